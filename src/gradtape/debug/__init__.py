"""Debugging tools that TensorFlow does not have: engine comparison, tape memory, source."""

from gradtape.debug.display import draw as draw
from gradtape.debug.engine_comparison import Comparison as Comparison
from gradtape.debug.engine_comparison import Difference as Difference
from gradtape.debug.engine_comparison import compare_engines as compare_engines
from gradtape.debug.function_explanation import explain_function as explain_function
from gradtape.debug.gradient_check import GradientCheck as GradientCheck
from gradtape.debug.gradient_check import check_gradients as check_gradients
from gradtape.debug.profile import Profile as Profile
from gradtape.debug.profile import profile as profile
from gradtape.debug.source import source as source
from gradtape.debug.summary import record_lines as record_lines
from gradtape.debug.tape_memory import saved_bytes as saved_bytes

__all__ = [
    "Comparison",
    "Difference",
    "GradientCheck",
    "Profile",
    "check_gradients",
    "compare_engines",
    "draw",
    "explain_function",
    "profile",
    "record_lines",
    "saved_bytes",
    "source",
]  # `help` describes these
