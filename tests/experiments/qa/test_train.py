"""From questions and passages to an answerer, and back from its folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.experiments.qa.capital_world import (
    capitals,
    relative_data,
    settings,
    write_capitals,
    write_relatives,
    write_words,
)

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.qa.answerer import Answerer, load_answerer
from pair2vec.experiments.qa.examples import TokenisedText, read_qa
from pair2vec.experiments.qa.train import QaData, question_words, train_answerer
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.training.train import Interrupted


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capitals")
    write_capitals(folder / "train.json", 150, seed=0)
    write_capitals(folder / "dev.json", 30, seed=1)
    write_capitals(folder / "test.json", 30, seed=2)
    write_words(folder / "words.vec")
    return folder


def data(world: Path) -> QaData:
    return QaData.read([world / "train.json"], [world / "dev.json"])


@pytest.fixture(scope="module")
def trained(world: Path) -> Answerer:
    named = InputPaths(words=str(world / "words.vec"))
    return train_answerer(world / "model", data(world), named, settings())


def test_it_learns_to_answer_and_when_there_is_no_answer(trained: Answerer, world: Path) -> None:
    qa_set = read_qa([world / "test.json"])
    predictions = trained.predict(qa_set)
    right: dict[bool, list[bool]] = {True: [], False: []}
    for question in qa_set.questions:
        prediction = predictions[question.id]
        answer = question.answers[0].text if question.answers else ""
        right[bool(answer)].append(
            answer == ("" if prediction.no_answer > 0 else prediction.answer)
        )
    assert np.mean(right[True] + right[False]) > 0.9
    assert np.mean(right[True]) > 0.8
    assert np.mean(right[False]) > 0.8


def test_a_loaded_answerer_predicts_as_the_trained_one_did(trained: Answerer, world: Path) -> None:
    qa_set = read_qa([world / "dev.json"])
    loaded = load_answerer(world / "model", question_words(qa_set))
    ours, theirs = loaded.predict(qa_set), trained.predict(qa_set)
    assert ours.keys() == {question.id for question in qa_set.questions}
    for name, prediction in ours.items():
        assert (prediction.answer, prediction.words) == (theirs[name].answer, theirs[name].words)
        assert prediction.no_answer == pytest.approx(theirs[name].no_answer, abs=1e-4)
        passage = qa_set.passages[next(q.passage for q in qa_set.questions if q.id == name)]
        assert prediction.answer == passage.span(*prediction.words)


def test_one_question_is_answered_as_among_many(trained: Answerer, world: Path) -> None:
    qa_set = read_qa([world / "dev.json"])
    many = trained.predict(qa_set)
    for question in qa_set.questions[:6]:
        passage = qa_set.passages[question.passage]
        alone = trained.answer(passage, question.text, top=3)
        best, prediction = alone.answers[0], many[question.id]
        assert best.answer == prediction.answer == passage.text[best.start : best.end]
        assert np.log(alone.no_answer / best.probability) == pytest.approx(
            prediction.no_answer, abs=1e-3
        )
        assert (alone.best is None) == (prediction.no_answer > 0)
        assert len(alone.answers) == 3
        assert alone.no_answer + sum(one.probability for one in alone.answers) < 1.0001


def test_a_long_passage_is_read_in_windows(trained: Answerer) -> None:
    text = " ".join(["So."] * 700 + ["Land3 has Town4."] + ["So."] * 700)
    answers = trained.answer(TokenisedText.of(text), TokenisedText.of("Which has Land3?"))
    assert answers.answers[0].answer == "Town4"
    assert text[answers.answers[0].start :].startswith("Town4")


def test_a_passage_without_words_has_no_answer(trained: Answerer) -> None:
    answers = trained.answer(TokenisedText.of(" "), TokenisedText.of("Which has Land3?"))
    assert (answers.answers, answers.no_answer, answers.best) == ([], 1.0, None)


def test_a_folder_has_weights_and_provenance(trained: Answerer, world: Path) -> None:
    folder = world / "model"
    config = json.loads((folder / "config.json").read_bytes())
    assert (config["kind"], config["model"]) == ("qa answerer", "bidaf++")
    assert config["train"] == {"train.json": 450}
    assert config["dev"] == {"dev.json": 90}
    assert config["dev_score"] > 90
    assert config["settings"]["qa"]["max_words"] == 400
    stored = load_file(folder / "weights.safetensors")
    assert {name: list(w.shape) for name, w in stored.items()} == config["weights"]
    for name, weights in trained.network.named_parameters():
        assert torch.equal(stored[name], weights)
    with pytest.raises(InputError, match="is not the config of an NLI classifier"):
        from pair2vec.experiments.nli.classifier import load_classifier

        load_classifier(folder, ["so"])


def test_an_interrupted_training_resumes_to_the_same_answerer(world: Path, tmp_path: Path) -> None:
    named = InputPaths(words=str(world / "words.vec"))
    short = settings("training.epochs=2", "training.batch=8", "bidaf.dropout=0.2")
    few = QaData.of(
        *(read_qa([write_capitals(tmp_path / f"{n}.json", 20, seed=n)]) for n in range(2))
    )
    train_answerer(tmp_path / "whole", few, named, short)
    out = tmp_path / "parts"
    for stop_after in (3, 6):
        steps = iter(range(stop_after))
        with pytest.raises(Interrupted):
            train_answerer(
                out, few, named, short, resume=True,
                should_stop=lambda steps=steps: next(steps, None) is None,  # type: ignore[misc]
            )  # fmt: skip
        assert not (out / "config.json").exists()
    with pytest.raises(UsageError, match="was begun with another data"):
        train_answerer(out, data(world), named, short, resume=True)
    train_answerer(out, few, named, short, resume=True)
    name = "weights.safetensors"
    assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_best_weights_can_be_selected_by_fewer_dev_questions(
    world: Path, tmp_path: Path
) -> None:
    named = InputPaths(words=str(world / "words.vec"))
    counts: list[int] = []
    predict = train_answerer.__globals__["predict_answers"]

    def counted(*arguments: object, **options: object) -> object:
        counts.append(len(arguments[2]))  # type: ignore[arg-type]
        return predict(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pair2vec.experiments.qa.train.predict_answers", counted)
        for questions in (0, 30, 1000):
            changes = settings(f"qa.dev_questions={questions}", "training.epochs=1")
            train_answerer(tmp_path / str(questions), data(world), named, changes)
    assert counts == [90, 30, 90]


def test_relation_vectors_find_answers_that_words_alone_do_not(tmp_path: Path) -> None:
    named = write_relatives(tmp_path)
    changes = settings("training.batch=8", "training.epochs=8")
    answerers = {
        pairs: train_answerer(tmp_path / pairs, relative_data(), paths, changes)
        for pairs, paths in named.items()
    }
    assert answerers["pair_distance"].config["dev_score"] > 90
    assert answerers["none"].config["dev_score"] < 60


def test_questions_without_any_answer_to_train_on_are_an_error(tmp_path: Path, world: Path) -> None:
    paragraphs = capitals(2, seed=5)
    for paragraph in paragraphs:
        for question in paragraph["qas"]:
            question["answers"] = [{"text": "gone", "answer_start": 0}]
    path = tmp_path / "train.json"
    path.write_text(json.dumps({"data": [{"title": "w", "paragraphs": paragraphs}]}))
    unanswered = QaData.read([path], [world / "dev.json"])
    assert unanswered.facts["answers_not_found"] == 6
    with pytest.raises(InputError, match="no question to train on"):
        train_answerer(
            tmp_path / "out", unanswered, InputPaths(words=str(world / "words.vec")), settings()
        )
