"""Functions of Python's `inspect` under the names of TensorFlow's private module `tf_inspect`."""

import inspect as _inspect
from inspect import Parameter as Parameter
from inspect import getcallargs as getcallargs
from inspect import getdoc as getdoc
from inspect import getfile as getfile
from inspect import getframeinfo as getframeinfo
from inspect import getmembers as getmembers
from inspect import getmodule as getmodule
from inspect import getmro as getmro
from inspect import getsource as getsource
from inspect import getsourcefile as getsourcefile
from inspect import isbuiltin as isbuiltin
from inspect import isclass as isclass
from inspect import isframe as isframe
from inspect import isfunction as isfunction
from inspect import isgenerator as isgenerator
from inspect import isgeneratorfunction as isgeneratorfunction
from inspect import ismethod as ismethod
from inspect import ismodule as ismodule
from inspect import isroutine as isroutine
from inspect import signature as signature
from inspect import stack as stack

__all__ = ["_inspect"]
