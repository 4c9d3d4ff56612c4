"""What a design may name: modules with their members, builtins, special methods. Data, no behaviour.

Every list is explicit: a name that a new Python or NumPy brings is unknown until somebody reads what it does
and adds it here. Change :data:`POLICY_VERSION` with any change of meaning.
"""

from __future__ import annotations

import re

POLICY_VERSION = 2
"""Version of the language: sources compiled under another version are compiled anew."""

CLOCK_TYPE = re.compile(r"[<>=|]?(?:M8|datetime64)(?:\[.*\])?")
"""NumPy's names for its type of dates: an array of it reads the clock from the text ``"now"``."""

PROGRAM = "spade_program"
"""``__name__`` of a design's namespace, and so ``__module__`` of every class that it defines."""

FILENAME = "<design>"
"""File name in the code objects of a design, by which its frames are known in a traceback."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_NUMPY = """
abs absolute add all allclose amax amin angle any append apply_along_axis apply_over_axes arange arccos
arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array
array2string array_equal array_equiv array_split array_str asarray ascontiguousarray atleast_1d
atleast_2d atleast_3d average base_repr binary_repr bincount bitwise_and bitwise_count bitwise_invert
bitwise_not bitwise_or bitwise_xor block bool bool_ broadcast_arrays broadcast_shapes broadcast_to can_cast
cbrt ceil choose clip column_stack complex128 complex64 complexfloating compress concat concatenate conj
conjugate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum deg2rad
degrees delete diag diag_indices diagflat diagonal diff digitize divide divmod dot double dsplit dstack
dtype e ediff1d einsum empty empty_like equal errstate euler_gamma exp exp2 expand_dims expm1 extract eye
fabs False_ fft fill_diagonal finfo fix flatnonzero flip fliplr flipud float16 float32 float64 float_power
floating floor floor_divide fmax fmin fmod frexp fromfunction fromiter full full_like gcd generic geomspace
gradient greater greater_equal heaviside histogram histogram2d hsplit hstack hypot identity iinfo imag
indices inexact inf inner insert int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert
isclose iscomplexobj isdtype isfinite isin isinf isnan isneginf isposinf isreal isrealobj isscalar
issubdtype ix_ kron lcm ldexp left_shift less less_equal lexsort linalg linspace log log10 log1p log2
logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace long mask_indices matmul
matrix_transpose max maximum mean median meshgrid min minimum mod modf moveaxis multiply nan nan_to_num
nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
nanstd nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis nextafter nonzero not_equal number
object_ ones ones_like outer packbits pad partition percentile permute_dims pi piecewise place polyadd
polyfit polymul polyval positive pow power prod promote_types ptp put put_along_axis putmask quantile
rad2deg radians random ravel ravel_multi_index real real_if_close reciprocal remainder repeat reshape
result_type right_shift rint roll rollaxis roots rot90 round searchsorted select setdiff1d setxor1d shape
sign signbit signedinteger sin sinc sinh size sort spacing split sqrt square squeeze stack std str_ subtract
sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril tril_indices
tril_indices_from trim_zeros triu triu_indices triu_indices_from True_ true_divide trunc ufunc uint uint16
uint32 uint64 uint8 uintc uintp union1d unique unique_counts unique_inverse unique_values unpackbits
unravel_index unsignedinteger unwrap vander var vdot vecdot vectorize vsplit vstack where zeros
zeros_like
"""

# Of these two, what draws numbers belongs to the instance's own generators (see facades.py).
RANDOM_METHODS = words("""
betavariate choice choices expovariate gammavariate gauss getrandbits getstate
lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed setstate shuffle
triangular uniform vonmisesvariate weibullvariate
""")
NUMPY_RANDOM_METHODS = words("""
beta binomial bytes chisquare choice dirichlet exponential gamma geometric gumbel hypergeometric laplace
logistic lognormal logseries multinomial multivariate_normal negative_binomial normal pareto permutation
poisson power rand randint randn random random_sample rayleigh shuffle standard_cauchy standard_exponential
standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf
""")

MODULES: dict[str, frozenset[str]] = {
    "__future__": words("annotations"),
    "abc": words("ABC abstractmethod"),
    "bisect": words("bisect bisect_left bisect_right insort insort_left insort_right"),
    "cmath": words("""
        acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan
        nanj phase pi polar rect sin sinh sqrt tan tanh tau
    """),
    "collections": words("abc ChainMap Counter OrderedDict defaultdict deque namedtuple"),
    "collections.abc": words("""
        Callable Collection Container Generator Hashable ItemsView Iterable Iterator KeysView Mapping
        MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView
    """),
    "contextlib": words("ExitStack closing contextmanager nullcontext suppress"),
    "copy": words("copy deepcopy"),
    "dataclasses": words("""
        FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass replace
    """),
    "datetime": words("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
    "decimal": words("""
        Clamped Context Decimal DecimalException DivisionByZero Inexact InvalidOperation Overflow ROUND_05UP
        ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded
        Subnormal Underflow getcontext localcontext
    """),
    "enum": words("Enum Flag IntEnum IntFlag StrEnum auto unique"),
    "fractions": words("Fraction"),
    "functools": words("cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps"),
    "gymnasium": words("Env Space spaces"),
    "gymnasium.spaces": words("Box Dict Discrete MultiBinary MultiDiscrete Space Text Tuple"),
    "heapq": words("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": words("""
        accumulate chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
    """),
    "json": words("JSONDecodeError dumps loads"),
    "math": words("""
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp
        exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan
        isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder
        sin sinh sqrt tan tanh tau trunc ulp
    """),
    "numpy": words(_NUMPY),
    "numpy.fft": words("fft fft2 fftfreq fftn fftshift ifft ifft2 ifftn ifftshift irfft rfft rfftfreq"),
    "numpy.linalg": words("""
        LinAlgError cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power
        matrix_rank multi_dot norm pinv qr slogdet solve svd svdvals vector_norm
    """),
    "numpy.random": NUMPY_RANDOM_METHODS | words("Generator RandomState default_rng"),
    "operator": words("""
        abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not
        itemgetter le length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth
        xor delitem setitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub
        itruediv ixor
    """),
    "random": RANDOM_METHODS | words("Random"),
    "re": words("""
        A ASCII I IGNORECASE M MULTILINE Match NOFLAG Pattern RegexFlag S DOTALL U UNICODE VERBOSE X compile
        error escape findall finditer fullmatch match search split sub subn
    """),
    "spade_envs": words("ToolEnv run_program"),
    "statistics": words("""
        NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance
        quantiles stdev variance
    """),
    "string": words("""
        ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
        punctuation whitespace
    """),
    "textwrap": words("dedent fill indent shorten wrap"),
    "typing": words("""
        AbstractSet Annotated Any AnyStr Callable ClassVar Collection Container Counter DefaultDict Deque
        Dict Final FrozenSet Generator Generic Hashable ItemsView Iterable Iterator KeysView List Literal
        Mapping MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn Optional
        OrderedDict ParamSpec Protocol Reversible Self Sequence Set Sized SupportsAbs SupportsFloat
        SupportsIndex SupportsInt TYPE_CHECKING Text Tuple Type TypeAlias TypeVar TypedDict Union ValuesView
        cast
    """),
}
"""Each module that may be imported, with the members that its facade has."""

UNCALLABLE = frozenset({"numpy.ndarray", "numpy.ufunc", "numpy.random.Generator"})
"""Classes that serve for ``isinstance`` only: their constructors reach raw memory."""

COMMON = {
    **{name: name for name in ("json", "math", "random", "re")},
    "np": "numpy",
    **{name: f"collections.{name}" for name in ("Counter", "defaultdict", "deque")},
    **{name: f"typing.{name}" for name in MODULES["typing"] - {"Counter", "Generator", "Text", "cast"}},
}
"""Names that work without their import: designers forget it."""

BUILTINS = words("""
    ArithmeticError AssertionError AttributeError BaseException BufferError DeprecationWarning EOFError
    Ellipsis Exception FloatingPointError FutureWarning ImportError IndexError KeyError LookupError
    MemoryError ModuleNotFoundError NameError NotImplemented NotImplementedError OSError OverflowError
    PermissionError RecursionError ReferenceError RuntimeError RuntimeWarning StopAsyncIteration
    StopIteration SyntaxError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError
    UnicodeError UserWarning ValueError Warning ZeroDivisionError FileNotFoundError abs all any ascii bin
    bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex int isinstance issubclass iter len list map max min next object oct
    ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super
    tuple type zip
""")

SPECIAL_METHODS = words("""
    __init__ __post_init__ __str__ __repr__ __len__ __iter__ __next__ __contains__ __getitem__ __setitem__
    __delitem__ __call__ __bool__ __int__ __float__ __hash__ __enter__ __exit__ __eq__ __ne__ __lt__ __le__
    __gt__ __ge__ __neg__ __pos__ __abs__ __invert__
""") | {
    f"__{form}{operator}__"
    for operator in words("add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or")
    for form in ("", "r", "i")
    if form + operator != "idivmod"
}
"""The double-underscore methods that a class may define."""
