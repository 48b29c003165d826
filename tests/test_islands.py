"""Where topics and documents go on a map: nothing covers anything else, and what belongs together is together"""
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nmf2.data import planted_tree
from nmf2.islands import Islands, dots, islands, nearness, pack, sunflower, touching
from nmf2.topictree import topic_tree
from nmf2.weighting import count_pipeline


@pytest.fixture(scope="module")
def tree():
    corpus = planted_tree((3, 3), n_docs=360, random_state=1)
    return topic_tree(count_pipeline().fit_transform(corpus.X), 9).tree


def apart(place, radius):
    "The water between each two disks"
    return np.array([np.hypot(*(place[i] - place[j])) - radius[i] - radius[j] for i in range(len(radius)) for j in range(i)])


def test_topics_are_as_near_as_they_were_long_one_node(tree):
    leaves = tree.leaves(6)
    near = nearness(tree, leaves)
    for i, a in enumerate(leaves):
        for j, b in enumerate(leaves):
            common = next((k for k, (x, y) in enumerate(zip(a.id, b.id)) if x != y), None)
            assert near[i,j] == (0 if i == j else 1 + tree.splits.index(a.id[:common]))


@pytest.mark.parametrize("k", [1, 2, 3, 8, 60])
def test_no_disk_covers_another(k):
    rng = np.random.default_rng(k)
    near = rng.random((k, k))
    near += near.T
    radius, gap = rng.random(k)**3, np.where(rng.random((k, k)) < .5, .02, .3)
    gap = np.maximum(gap, gap.T)
    place = pack(radius, near, gap)
    for i in range(k):
        for j in range(i): assert np.hypot(*(place[i] - place[j])) >= radius[i] + radius[j] + gap[i,j] - 1e-8
    assert np.ptp(place, axis=0).max() < 2*(2*radius + .3).sum()


def test_touching_places_are_at_the_distances_asked_for():
    rng = np.random.default_rng(0)
    place, reach = rng.random((6, 2)), .3 + rng.random(6)
    spots = touching(place, reach)
    off = abs(np.hypot(*(spots[:,None] - place).transpose(2, 0, 1)) - reach)
    assert len(spots) and (np.sort(off, axis=1)[:,1] < 1e-9).all()


def test_areas_are_sizes_and_groups_are_neighbors(tree):
    leaves, broad = tree.leaves(), tree.leaves(3)
    groups = np.array([next(k for k, node in enumerate(broad) if leaf.id.startswith(node.id)) for leaf in leaves])
    land = islands([leaf.size for leaf in leaves], nearness(tree, leaves), groups)
    assert_allclose(land.radius**2, [leaf.size/sum(leaf.size for leaf in leaves) for leaf in leaves])
    assert apart(*land).min() > .02 - 1e-8
    far = np.hypot(*(land.place[:,None] - land.place).transpose(2, 0, 1))
    same = (groups[:,None] == groups) & ~np.eye(9, dtype=bool)
    assert far[same].mean() < .75*far[groups[:,None] != groups].mean()
    assert_array_equal(land.place, islands([leaf.size for leaf in leaves], nearness(tree, leaves), groups).place)


@pytest.mark.parametrize("sizes", [[0, 5], [0, 0], [7]])
def test_islands_without_documents(sizes):
    land = islands(sizes, np.zeros((len(sizes), len(sizes))))
    assert np.isfinite(land.place).all() and (land.radius >= 0).all()


def test_each_document_has_a_spot_of_its_own_in_its_island():
    rng = np.random.default_rng(0)
    land = islands([400, 90, 1, 9], rng.random((4, 4)))
    hard = np.repeat(np.arange(4), [400, 90, 1, 9])
    sure, toward = rng.random(500), rng.normal(size=(500, 2))
    spots = dots(land, hard, sure, toward)
    off = np.hypot(*(spots - land.place[hard]).T)
    assert (off <= land.radius[hard]).all() and len(np.unique(spots.round(9), axis=0)) == 500
    for k in range(4):                                       # rings, from the surest outwards
        mine = np.flatnonzero(hard == k)
        ring = np.sqrt(np.argsort(np.argsort(-sure[mine], kind="stable"))/3).astype(int)
        for r in range(1, ring.max() + 1): assert off[mine][ring == r].min() > off[mine][ring == r - 1].max()
    order = rng.permutation(500)
    assert_allclose(dots(land, hard[order], sure[order], toward[order]), spots[order])


def test_one_document_stands_in_the_middle():
    land = Islands(np.array([[1., 2.], [5., 6.]]), np.array([1., .1]))
    assert_array_equal(dots(land, np.array([0, 1, 0]), np.ones(3), np.zeros((3, 2)))[1], [5, 6])


def test_documents_stand_where_they_are_drawn():
    rng = np.random.default_rng(1)
    for turns in (rng.uniform(0, 2*np.pi, 600), rng.normal(1, .5, 600)):
        way = np.stack([np.cos(turns), np.sin(turns)], 1)
        spots = dots(Islands(np.zeros((1, 2)), np.ones(1)), np.zeros(600, int), rng.random(600), way)
        cos = (spots*way).sum(1)/np.hypot(*spots.T)
        assert cos.mean() > .3 and (cos[way @ [np.cos(1), np.sin(1)] > .99] > .5).mean() > .9
    nowhere = dots(Islands(np.zeros((1, 2)), np.ones(1)), np.zeros(50, int), np.ones(50), np.zeros((50, 2)))
    assert len(np.unique(nowhere.round(9), axis=0)) == 50


def test_sunflower_is_even():
    spots = sunflower(2000)
    assert np.hypot(*spots.T).max() < 1
    quarter = (spots[:,0] > 0) & (spots[:,1] > 0)
    assert abs(quarter.mean() - .25) < .01 and abs((np.hypot(*spots.T) < .5).mean() - .25) < .01
    assert sunflower(0).shape == (0, 2)
