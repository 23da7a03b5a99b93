"""The student's parts: the CRF compared with enumeration, Guan's α and γ, the fusion, the losses."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

from incognote.detectors.encoder.bundle import allowed  # noqa: E402 -- torch first: the imports below need it
from incognote.detectors.encoder.units import BITS, MEDICAL_BIT  # noqa: E402 -- as above
from incognote_training.student import losses  # noqa: E402 -- as above
from incognote_training.student.attention import BETA, GROUPS, Layer, gamma  # noqa: E402 -- as above
from incognote_training.student.crf import Crf  # noqa: E402 -- as above
from incognote_training.student.fusion import WIDTH, Fusion  # noqa: E402 -- as above
from incognote_training.student.model import Student  # noqa: E402 -- as above
from incognote_training.student.shape import Sizes, Switches  # noqa: E402 -- as above

SIZES = Sizes(vocabulary=50, hidden=24, layers=3, heads=6, intermediate=32, positions=64)
STILL = Switches(exit_layer=1, dropout=0.0)


def inputs(n: int = 2, length: int = 32) -> tuple[Any, Any]:
    torch.manual_seed(3)
    ids = torch.randint(1, 50, (n, length))
    ids[1:, length // 2 :] = 0
    return ids, (torch.rand(n, length, BITS) < 0.1).float() * (ids != 0).unsqueeze(-1)


def student(**changes: Any) -> Student:
    torch.manual_seed(5)
    return Student(SIZES, STILL.model_copy(update=changes), 4).eval()


# The CRF


def test_the_likelihood_is_that_of_enumeration() -> None:
    torch.manual_seed(1)
    crf = Crf(2)
    torch.nn.init.normal_(crf.transitions)
    crf.requires_grad_(False)
    emissions = torch.randn(1, 4, 5)
    tags = torch.tensor([[1, 2, 0, 3]])
    legal = allowed(2)

    def score(path: tuple[int, ...]) -> float:
        steps = sum(float(crf.transitions[a, b]) for a, b in pairwise(path))
        return steps + sum(float(emissions[0, t, y]) for t, y in enumerate(path))

    paths = [p for p in product(range(5), repeat=4) if all(legal[a, b] for a, b in pairwise(p))]
    whole = math.log(sum(math.exp(score(p)) for p in paths))
    loss = crf(emissions, tags, torch.ones(1, 4, dtype=torch.bool))
    assert float(loss) * 4 == pytest.approx(whole - score((1, 2, 0, 3)), rel=1e-4)


def test_padding_adds_nothing_to_the_likelihood() -> None:
    torch.manual_seed(2)
    crf, emissions, tags = (
        Crf(3).requires_grad_(False),
        torch.randn(2, 5, 7),
        torch.tensor([[1, 2, 0, 0, 5], [0, 3, 0, 0, 0]]),
    )
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    apart = crf(emissions[:1], tags[:1], mask[:1]) * 5 + crf(emissions[1:, :2], tags[1:, :2], mask[1:, :2]) * 2
    assert float(crf(emissions, tags, mask)) * 7 == pytest.approx(float(apart), rel=1e-4)


def test_what_is_forbidden_costs_much_more_than_what_is_not() -> None:
    crf, mask = Crf(2).requires_grad_(False), torch.ones(1, 2, dtype=torch.bool)
    flat = torch.zeros(1, 2, 5)
    assert float(crf(flat, torch.tensor([[0, 2]]), mask)) > float(crf(flat, torch.tensor([[1, 2]]), mask)) + 10


# Specialized heads


def test_at_alpha_one_and_without_medical_words_a_layer_is_a_plain_one() -> None:
    torch.manual_seed(0)
    special = Layer(SIZES, 0.0, specialised=True).eval()
    plain = Layer(SIZES, 0.0, specialised=False).eval()
    plain.load_state_dict({k: v for k, v in special.state_dict().items() if k != "alpha"})
    hidden, blocked = torch.randn(2, 8, 24), torch.zeros(2, 1, 1, 8)
    one = gamma(torch.zeros(2, 8), torch.ones(2, 8), torch.tensor(BETA))
    assert torch.allclose(special(hidden, blocked, one), plain(hidden, blocked), atol=1e-6)


def test_gamma_is_one_plus_beta_log_one_plus_density() -> None:
    medical = torch.tensor([[1.0, 1, 0, 0], [0, 0, 0, 0]])
    real = torch.tensor([[1.0, 1, 1, 1], [1, 1, 0, 0]])
    made = gamma(medical, real, torch.tensor(0.1)).tolist()
    assert made == pytest.approx([1 + 0.1 * math.log(1.5), 1.0])


def test_the_heads_are_parted_into_three_groups_of_a_third() -> None:
    layer = Layer(Sizes(hidden=36, heads=12), 0.0, specialised=True)
    assert torch.bincount(layer.group).tolist() == [4] * len(GROUPS)


def test_alpha_and_gamma_multiply_the_scores() -> None:
    torch.manual_seed(0)
    special = Layer(SIZES, 0.0, specialised=True).eval().requires_grad_(False)
    plain = Layer(SIZES, 0.0, specialised=False).eval().requires_grad_(False)
    plain.load_state_dict({k: v for k, v in special.state_dict().items() if k != "alpha"})
    special.alpha.fill_(2.0)
    plain.qkv.weight[:24] *= 3
    plain.qkv.bias[:24] *= 3
    hidden, blocked = torch.randn(1, 8, 24), torch.zeros(1, 1, 1, 8)
    assert torch.allclose(special(hidden, blocked, torch.tensor([1.5])), plain(hidden, blocked), atol=1e-5)


def test_alpha_and_beta_are_learned() -> None:
    made = student().train()
    ids, features = inputs()
    features[0, :10, MEDICAL_BIT] = 1
    made(ids, features)[0].square().sum().backward()
    assert all(layer.alpha.grad.abs().sum() > 0 for layer in made.layers)
    assert made.beta is not None
    assert made.beta.grad is not None


# Fusion


def test_fusion_keeps_the_shape_and_begins_near_the_tokens() -> None:
    torch.manual_seed(0)
    fusion = Fusion(SIZES, 0.0).eval()
    hidden = torch.randn(2, 2 * WIDTH, 24)
    fused = fusion(hidden, torch.ones(2, 2 * WIDTH))
    assert fused.shape == hidden.shape
    assert torch.cosine_similarity(fused, hidden, dim=-1).mean() > 0.9


def test_each_level_reaches_every_token() -> None:
    fusion = Fusion(SIZES, 0.0).eval()
    hidden = torch.randn(1, 3 * WIDTH, 24, requires_grad=True)
    fusion(hidden, torch.ones(1, 3 * WIDTH))[0, 0].sum().backward()
    reached = hidden.grad[0].abs().sum(-1)
    assert reached[0] > 0
    assert reached[WIDTH:].max() > 0


@pytest.mark.parametrize("fused", [True, False])
def test_padding_changes_no_answer(fused: bool) -> None:
    made = student(fusion=fused)
    ids, features = inputs()
    short = ids[1:, :16], features[1:, :16]
    with torch.no_grad():
        long_full, long_early = made(ids, features)
        full, early = made(*short)
    assert torch.allclose(full, long_full[1:, :16], atol=1e-4)
    assert torch.allclose(early, long_early[1:, :16], atol=1e-4)


# The model


def test_both_exits_go_through_lower_and_upper() -> None:
    made = student()
    ids, features = inputs()
    with torch.no_grad():
        full, early = made(ids, features)
        hidden = made.lower(ids, features)
        assert torch.equal(made.upper(hidden, ids, features), full)
        assert torch.equal(made.early(hidden), early)


@pytest.mark.parametrize("switch", ["shape", "lexicon"])
def test_features_that_are_switched_off_change_nothing(switch: str) -> None:
    made = student(**{switch: False}, specialised=False)
    ids, features = inputs()
    other = features.clone()
    other[:, :, slice(0, 32) if switch == "shape" else slice(32, 62)] = 1
    other = other * (ids != 0).unsqueeze(-1)
    with torch.no_grad():
        assert torch.allclose(made(ids, features)[0], made(ids, other)[0])


# The losses


def test_focal_with_power_zero_is_cross_entropy() -> None:
    logits, targets = torch.randn(1, 3, 5), torch.eye(5)[torch.tensor([[0, 2, 4]])]
    plain = torch.nn.functional.cross_entropy(logits[0], torch.tensor([0, 2, 4]))
    assert float(losses.focal(logits, targets, torch.ones(1, 3), 0.0)) == pytest.approx(float(plain), rel=1e-5)


def test_focal_takes_less_of_what_is_sure() -> None:
    targets, mask = torch.tensor([[[1.0, 0.0]]]), torch.ones(1, 1)

    def ratio(logit: float) -> float:
        logits = torch.tensor([[[logit, 0.0]]])
        return float(losses.focal(logits, targets, mask, 2.0) / losses.focal(logits, targets, mask, 0.0))

    assert ratio(0.0) == pytest.approx(0.25)
    assert ratio(math.log(19)) == pytest.approx(0.05**2, rel=1e-3)


def test_soft_targets_are_best_met_by_their_own_distribution() -> None:
    targets, mask = torch.tensor([[[0.25, 0.75, 0.0]]]), torch.ones(1, 1)
    exact = torch.tensor([[[0.25, 0.75, 1e-6]]]).log()
    off = torch.tensor([[[0.05, 0.95, 1e-6]]]).log()
    assert losses.focal(exact, targets, mask, 0.0) < losses.focal(off, targets, mask, 0.0)


def test_the_losses_of_guan_are_nothing_where_all_is_right_and_more_where_it_is_not() -> None:
    tags = torch.tensor([[0, 0, 1, 2, 0]])
    targets, mask = torch.eye(5)[tags], torch.ones(1, 5)
    meanings = torch.randn(1, 5, 6)
    right, wrong = targets * 30, targets.roll(2, dims=1) * 30
    for loss in (
        lambda logits: losses.preservation(logits, targets, mask, meanings),
        lambda logits: losses.compliance(logits, targets, mask),
        lambda logits: losses.consistency(logits, right, mask),
    ):
        assert float(loss(right)) == pytest.approx(0, abs=1e-4)
        assert float(loss(wrong)) > 0.1


def test_compliance_weighs_kinds_alike_however_many_words_they_have() -> None:
    tags = torch.tensor([[1, 2, 2, 2, 3]])
    targets, mask = torch.eye(5)[tags], torch.ones(1, 5)
    missed = torch.zeros(1, 5, 5)
    missed[0, :4] = targets[0, :4] * 30
    missed[0, 4, 0] = 30
    other = torch.zeros(1, 5, 5)
    other[0, 4] = targets[0, 4] * 30
    other[0, :4, 0] = 30
    assert float(losses.compliance(missed, targets, mask)) == pytest.approx(
        float(losses.compliance(other, targets, mask)), rel=1e-3
    )


def test_annealing_falls_in_a_cosine_and_never_below_its_floor() -> None:
    assert losses.annealed(2.0, 0.0, 0.1) == 2.0
    assert losses.annealed(2.0, 0.5, 0.1) == pytest.approx(1.0)
    assert losses.annealed(2.0, 1.0, 0.1) == pytest.approx(0.2)
