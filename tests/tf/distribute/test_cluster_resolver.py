"""Cluster resolvers: TF_CONFIG, stated values, Slurm; values as TensorFlow 2.21 has them."""

import json

import pytest

import gradtape as tf
from gradtape.tf.distribute.cluster_resolver import (
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    UnionResolver,
    expand_counts,
    expand_hosts,
    list_workers,
)


@pytest.fixture
def set_tf_config(monkeypatch):
    def set_it(cluster, task=None):
        value = {"cluster": cluster, **({"task": task} if task else {})}
        monkeypatch.setenv("TF_CONFIG", json.dumps(value))

    return set_it


def test_tf_config_names_the_cluster_and_the_task(set_tf_config):
    set_tf_config({"worker": ["a:1", "b:2"]}, {"type": "worker", "index": "1"})
    resolver = TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 1, "grpc")
    assert resolver.cluster_spec().as_dict() == {"worker": ["a:1", "b:2"]}
    assert resolver.master() == "grpc://b:2"
    assert resolver.master("worker", 0) == "grpc://a:1"
    assert list_workers(resolver) == (["a:1", "b:2"], 1)


def test_without_tf_config_there_is_one_worker(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    resolver = TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.master()) == (None, None, "")
    assert not resolver.cluster_spec()
    addresses, rank = list_workers(resolver)
    assert (len(addresses), rank) == (1, 0)


def test_arguments_replace_tf_config(set_tf_config):
    set_tf_config({"worker": ["a:1", "b:2"]}, {"type": "worker", "index": 1})
    assert TFConfigClusterResolver(task_id=0, rpc_layer="").master() == "grpc://a:1"


def test_a_bad_tf_config_is_an_error(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{worker")
    with pytest.raises(ValueError, match="TF_CONFIG must be a JSON object"):
        TFConfigClusterResolver().cluster_spec()


@pytest.mark.parametrize(
    ("job", "index", "rank"), [("chief", 0, 0), ("worker", 0, 1), ("worker", 1, 2)]
)
def test_the_chief_is_the_first_worker(set_tf_config, job, index, rank):
    set_tf_config(
        {"worker": ["w0:1", "w1:1"], "chief": ["c:1"], "evaluator": ["e:1"]},
        {"type": job, "index": index},
    )
    assert list_workers(TFConfigClusterResolver()) == (["c:1", "w0:1", "w1:1"], rank)


def test_an_evaluator_is_alone(set_tf_config):
    set_tf_config({"worker": ["w0:1"], "evaluator": ["e:1"]}, {"type": "evaluator", "index": 0})
    assert len(list_workers(TFConfigClusterResolver())[0]) == 1


@pytest.mark.parametrize(
    ("cluster", "task", "message"),
    [
        ({"worker": ["a:1"], "ps": ["b:1"]}, {"type": "worker", "index": 0}, "parameter servers"),
        ({"worker": ["a:1"]}, {"type": "worker", "index": 1}, "must be a task of the cluster"),
        ({"worker": ["a:1"]}, None, "task of this process must be known"),
    ],
)
def test_impossible_clusters_are_errors(set_tf_config, cluster, task, message):
    set_tf_config(cluster, task)
    with pytest.raises(ValueError, match=message):
        list_workers(TFConfigClusterResolver())


def test_a_simple_resolver_has_what_it_was_given():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})
    resolver = SimpleClusterResolver(cluster, task_type="worker", task_id=1)
    assert (resolver.master(), resolver.master("worker", 0)) == ("b:2", "a:1")
    assert SimpleClusterResolver(cluster, master="x:9").master() == "x:9"
    with pytest.raises(TypeError, match="ClusterSpec"):
        SimpleClusterResolver({"worker": []})


def test_a_union_appends_tasks():
    first = SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1"]}), "", "worker", 0)
    second = SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["b:1"]}))
    union = UnionResolver(first, second)
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:1"]}
    assert (union.task_type, union.task_id) == ("worker", 0)


def test_slurm_names_the_tasks_of_a_step(monkeypatch):
    monkeypatch.setenv("SLURM_STEP_NODELIST", "n[1-2]")
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "2(x2)")
    monkeypatch.setenv("SLURM_PROCID", "3")
    resolver = SlurmClusterResolver()
    assert resolver.cluster_spec().as_dict() == {
        "worker": ["n1:8888", "n1:8889", "n2:8888", "n2:8889"]
    }
    assert resolver.get_task_info() == ("worker", 3)
    assert resolver.master() == "grpc://n2:8889"
    split = SlurmClusterResolver({"chief": 1, "worker": 3}, port_base=100)
    assert split.get_task_info() == ("worker", 2)
    assert list_workers(split) == (["n1:100", "n1:101", "n2:100", "n2:101"], 3)
    with pytest.raises(RuntimeError, match="at most 4 tasks"):
        SlurmClusterResolver({"worker": 5})


def test_outside_of_slurm_the_resolver_is_an_error(monkeypatch):
    monkeypatch.delenv("SLURM_STEP_NODELIST", raising=False)
    monkeypatch.delenv("SLURM_NODELIST", raising=False)
    with pytest.raises(RuntimeError, match="srun"):
        SlurmClusterResolver()


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a,b", ["a", "b"]),
        ("t02n[13,41,43-44]", ["t02n13", "t02n41", "t02n43", "t02n44"]),
        ("n[08-10],login", ["n08", "n09", "n10", "login"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
    ],
)
def test_host_lists_of_slurm(text, hosts):
    assert expand_hosts(text) == hosts


def test_numbers_of_tasks_of_slurm():
    assert expand_counts("3(x2),2,1") == [3, 3, 2, 1]
