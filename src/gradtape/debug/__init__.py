"""Debugging tools that TensorFlow does not have: engine comparison, tape memory, source."""

from gradtape.debug.anomaly.report import AnomalyReport as AnomalyReport
from gradtape.debug.anomaly.switch import anomaly as anomaly
from gradtape.debug.display import draw as draw
from gradtape.debug.engine_comparison import Comparison as Comparison
from gradtape.debug.engine_comparison import Difference as Difference
from gradtape.debug.engine_comparison import compare_engines as compare_engines
from gradtape.debug.explanation.answer import Answer as Answer
from gradtape.debug.explanation.switch import LostGradientError as LostGradientError
from gradtape.debug.explanation.switch import Report as Report
from gradtape.debug.explanation.switch import explain as explain
from gradtape.debug.explanation.switch import strict as strict
from gradtape.debug.function_explanation import explain_function as explain_function
from gradtape.debug.gradient_check import check_gradients as check_gradients
from gradtape.debug.gradient_report import GradientCheck as GradientCheck
from gradtape.debug.plan_memory import PlanMemory as PlanMemory
from gradtape.debug.plan_memory import plan_memory as plan_memory
from gradtape.debug.profile import Profile as Profile
from gradtape.debug.profile import profile as profile
from gradtape.debug.source import source as source
from gradtape.debug.summary import record_lines as record_lines
from gradtape.debug.tape_memory import saved_bytes as saved_bytes

__all__ = [
    "AnomalyReport",
    "Answer",
    "Comparison",
    "Difference",
    "GradientCheck",
    "LostGradientError",
    "PlanMemory",
    "Profile",
    "Report",
    "anomaly",
    "check_gradients",
    "compare_engines",
    "draw",
    "explain",
    "explain_function",
    "plan_memory",
    "profile",
    "record_lines",
    "saved_bytes",
    "source",
    "strict",
]  # `help` describes these
