"""tf.math.special: Bessel functions, Dawson, Fresnel and exponential integrals, Spence."""

from __future__ import annotations

from gradtape.ops import bessel as b
from gradtape.ops import special as s
from gradtape.tf.example.number import SPECIAL
from gradtape.tf.public_op import FLOATS, add_examples, make_unary_op, name_functions

bessel_i0 = make_unary_op(b.bessel_i0, FLOATS, label="BesselI0")
bessel_i0e = make_unary_op(b.bessel_i0e, FLOATS, label="BesselI0e")
bessel_i1 = make_unary_op(b.bessel_i1, FLOATS, label="BesselI1")
bessel_i1e = make_unary_op(b.bessel_i1e, FLOATS, label="BesselI1e")
bessel_j0 = make_unary_op(b.bessel_j0, FLOATS, label="BesselJ0")
bessel_j1 = make_unary_op(b.bessel_j1, FLOATS, label="BesselJ1")
bessel_k0 = make_unary_op(b.bessel_k0, FLOATS, label="BesselK0")
bessel_k0e = make_unary_op(b.bessel_k0e, FLOATS, label="BesselK0e")
bessel_k1 = make_unary_op(b.bessel_k1, FLOATS, label="BesselK1")
bessel_k1e = make_unary_op(b.bessel_k1e, FLOATS, label="BesselK1e")
bessel_y0 = make_unary_op(b.bessel_y0, FLOATS, label="BesselY0")
bessel_y1 = make_unary_op(b.bessel_y1, FLOATS, label="BesselY1")
dawsn = make_unary_op(s.dawsn, FLOATS, label="Dawsn")
expint = make_unary_op(s.expint, FLOATS, label="Expint")
fresnel_cos = make_unary_op(s.fresnel_cos, FLOATS, label="FresnelCos")
fresnel_sin = make_unary_op(s.fresnel_sin, FLOATS, label="FresnelSin")
spence = make_unary_op(s.spence, FLOATS, label="Spence")

name_functions(__name__, globals())

add_examples(globals(), SPECIAL)
