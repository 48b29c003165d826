"Which languages texts are in, and which words are left out for it"
import json
import os
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from nmf2 import counting, languages
from nmf2.answers import count_new
from nmf2.cli import main
from nmf2.counting import CONTENT, LANGUAGES, Auto, TermCounter, found_in, found_of, spared_words, stop_list, escaped_share, tagged_share, told_found, told_languages
from nmf2.data import WORDS, count_terms, read
from nmf2.editing import drop_words
from nmf2.engines import Local
from nmf2.languages import BEGINNING, FREQUENT, SAMPLE, Seen, language_of, languages_of, look_at, lowest, told_apart
from nmf2.scale_texts import counted_over, fit_topics
from nmf2.topictree import TopicTree
from nmf2.weighting import text_pipeline
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score


LANGUAGES_WITHOUT_LISTS = {LANGUAGES[code]: FREQUENT[LANGUAGES[code]] for code in counting.UNLISTED}
ENGLISH = ["The ball is in the goal, and the striker was glad of it.", "This is the law that was passed by the parliament.",
           "A striker of the club has the ball, and the goal is empty.", "The parliament and the party are for the law."]
GERMAN = ["Der Ball ist im Tor, und der Stürmer war froh.", "Das ist das Gesetz, das von dem Parlament beschlossen wurde.",
          "Ein Stürmer des Vereins hat den Ball, und das Tor ist leer.", "Das Parlament und die Partei sind für das Gesetz."]
SAID = dict(english=ENGLISH[0], german=GERMAN[0],
            french="Le ballon est dans le but, et les joueurs sont contents de la victoire.", spanish="El balón está en la portería y los jugadores del club se alegran por eso.",
            italian="Il pallone è nella porta e i giocatori della squadra sono contenti.", portuguese="A bola não entrou na baliza, mas os jogadores do clube foram para casa com um ponto.",
            dutch="De bal is in het doel en de spelers van de club zijn blij met een punt.", swedish="Bollen är i mål och det är en glädje för alla som var på plats.",
            norwegian="Ballen er i mål, og etter det ble det å vente på at kampen var slutt.", danish="Bolden er i mål, og efter det kan spillerne ikke vente af glæde.",
            finnish="Pallo on maalissa ja se oli hyvä, mutta peli ei ollut ohi.", polish="Piłka jest w bramce i nie ma już czasu, ale się udało.",
            czech="Míč je v bráně a hráči se radují, protože to bylo pro ně důležité.", hungarian="A labda nem a kapuban van, és ez egy jó hír volt.",
            turkish="Top kale içinde ve bu bir gol olarak sayıldı.", russian="Мяч не попал в ворота, и это было как всегда.",
            ukrainian="М'яч не у воротах, але це та гра, що була для нас.", bulgarian="Топката не е във вратата и това се вижда от всички.",
            belarusian="Мяч не ў варотах, але гэта быў добры дзень для нас.", serbian="Лопта није у голу, али је то био добар дан за све.",
            macedonian="Топката не е во голот, но тоа го виде и судијата.", greek="Η μπάλα είναι στο τέρμα και οι παίκτες της ομάδας χαίρονται για το γκολ.",
            arabic="الكرة في المرمى و هذا ما كان من اللاعب على أرض الملعب", persian="توپ در دروازه است و این را از بازیکن می خواستند", hebrew="הכדור של השחקן לא היה על הקו, כי זה הוא השער",
            hindi="गेंद गोल में है और यह खिलाड़ी के लिए एक दिन था", korean="그 공은 골대 에 있는 것 이며 이 선수 는 더 기뻤다", vietnamese="Quả bóng của đội này là một bàn thắng và không có ai trong sân",
            indonesian="Bola itu ada di gawang dan tidak untuk pemain yang pulang dengan ini.")


@pytest.mark.parametrize("language", SAID)
def test_a_sentence_tells(language):
    assert language_of(SAID[language]) == language
    assert language_of(SAID[language].upper()) in (language, None) and language_of("\0" + SAID[language] + "\ud800") == language


@pytest.mark.parametrize("text", ["", " \n", "goal", "the", "404 + 17", "ls -la /usr/bin", "Müller Schmidt Weber", "de la", "ball "*300, "\ud800\0", "das of und in"])
def test_too_little_tells_nothing(text): assert language_of(text) is None


def test_frequent_words():
    assert set(FREQUENT) <= set(LANGUAGES.values()) and {"english", "german"} <= set(FREQUENT)
    for name, words in FREQUENT.items():
        assert len(words) >= 13 and all(word == word.lower() and word.isalpha() or name in ("hindi", "bengali", "gujarati", "marathi") for word in words)
        assert not any(len(word) == 1 and word.isascii() for word in words)
    assert len({words for words in FREQUENT.values()}) == len(FREQUENT)


def test_lists_have_the_frequent_words():
    pytest.importorskip("stopwordsiso")
    for name, words in FREQUENT.items(): assert words < counting.words_of_language(name) or LANGUAGES_WITHOUT_LISTS[name] == words


# messages of programs, a language each: two a line
CYRILLIC = dict(
    belarusian=["Немагчыма адкрыць файл: гэта не каталог", "Калі гэты файл ужо ёсць, ён будзе перазапісаны", "Памылка пры чытанні файла з дыска", "Назва файла, які трэба адкрыць",
                "Немагчыма стварыць каталог для часовых файлаў", "Ці паказваць меню, калі яно пустое", "Шырыня і вышыня акна ў пунктах", "Не ўдалося знайсці значэнне для гэтага ключа"],
    serbian=["Не могу да отворим датотеку: није директоријум", "Ако ова датотека већ постоји, биће замењена", "Грешка приликом читања датотеке са диска", "Назив датотеке коју треба отворити",
             "Нисам успео да направим директоријум за привремене датотеке", "Да ли приказати мени који је празан", "Ширина и висина прозора у тачкама", "Није могуће да се нађе вредност за овај кључ"],
    macedonian=["Не можам да ја отворам датотеката: не е директориум", "Ако датотеката веќе постои, ќе биде заменета", "Грешка при читање на датотеката од дискот", "Името на датотеката која треба да се отвори",
                "Не успеав да направам директориум за привремени датотеки", "Дали да се прикаже менито кога е празно", "Ширината и висината на прозорецот во точки", "Не може да се најде вредност за овој клуч"],
    ukrainian=["Неможливо відкрити файл: це не каталог", "Якщо цей файл вже є, його буде перезаписано", "Помилка під час читання файла з диска", "Назва файла, який слід відкрити",
               "Не вдалося створити каталог для тимчасових файлів", "Чи показувати меню, якщо воно є порожнім", "Ширина і висота вікна у точках", "Не вдалося знайти значення для цього ключа"],
    bulgarian=["Файлът не може да се отвори: това не е папка", "Ако този файл съществува, той ще се замени", "Грешка при четене на файла от диска", "Името на файла, който да се отвори",
               "Не може да се създаде папка за временните файлове", "Дали да се показва меню, което е празно", "Ширината и височината на прозореца в точки", "Не може да се намери стойност за този ключ"])


@pytest.mark.parametrize("language", CYRILLIC)
def test_relatives_in_cyrillic_letters_are_told_apart(language):
    texts = [f"{text} {i}" for i in range(3) for text in CYRILLIC[language]]
    assert Counter(filter(None, map(language_of, texts))).most_common(1)[0][0] == language
    assert languages_of(told_apart(look_at(texts))) == (language,)


def test_languages_without_lists():
    assert stop_list("Serbian") == FREQUENT["serbian"] and stop_list("auto", ["serbian"]) == FREQUENT["serbian"]
    texts = [f"{text} {i}" for i in range(3) for text in CYRILLIC["serbian"]]
    with pytest.warns(UserWarning, match=r"there are texts in Serbian, of which only the most frequent stop words are left out: stop_words=\[...\] takes"):
        counter = TermCounter(stop_words="auto").fit(texts)
    assert counter.languages_ == ("serbian",) and {"је", "није", "који"}.isdisjoint(counter.vocabulary_) and "датотеку" in counter.vocabulary_


def test_a_few_letters_of_another_language_do_no_harm():
    assert language_of("Топката не е във вратата и това се вижда от всички на стадиона, казва за „Спорт“ треньорът Љубомир.") == "bulgarian"
    assert language_of("Ол доп қақпада емес, және бұл біз үшін жаман күн болды") is None


def many(*shares, n=900):
    "Documents that differ, of several languages"
    return [f"{i} {texts[i % len(texts)]}" for texts, share in shares for i in range(round(share*n))]


def test_the_sample_is_that_of_the_whole():
    texts = many((ENGLISH, 1), (GERMAN, .5), (["goal"], .5))
    whole = look_at(texts)
    assert len(whole) == SAMPLE < len(texts) and whole == sorted(whole, key=lambda one: one.number)
    rng = np.random.default_rng(0)
    for cuts in ([10], [SAMPLE, SAMPLE + 1], sorted(rng.integers(0, len(texts), 20).tolist())):
        order = rng.permutation(len(texts))
        pieces = [look_at([texts[i] for i in rows]) for rows in np.split(order, cuts)]
        assert lowest(*pieces) == whole == lowest(pieces[0], lowest(*pieces[1:]))
    shares = Counter(one.language for one in whole)
    assert abs(shares["english"]/SAMPLE - .5) < .1 and abs(shares["german"]/SAMPLE - .25) < .08
    assert look_at([]) == lowest() == lowest([], []) == []


def test_texts_that_are_alike_are_looked_at_once():
    alike = ["x"*BEGINNING + "a", "x"*BEGINNING + "b"]
    assert len(look_at(alike)) == 1 and lowest([Seen(3, None, "")], [Seen(3, None, ""), Seen(1, "german", "a")]) == [(1, "german", "a"), (3, None, "")]
    texts = many((GERMAN, 1))
    for more in ("", " \n", "No text is there for the number 22", "[deleted]"):
        assert languages_of(look_at(texts + [more]*5000)) == languages_of(lowest(look_at(texts), look_at([more]*5000))) == ("german",)


@pytest.mark.parametrize("votes, found", [({}, ("english",)), ({None: 400}, ("english",)), ({"german": 1}, ("german",)), ({"german": 1, "english": 1}, ("english",)),
                                          ({"german": 3, "english": 3}, ("english", "german")), ({"german": 2, "english": 3}, ("english",)), ({"german": 99, "english": 1}, ("german",)),
                                          ({"german": 95, "english": 5}, ("german", "english")), ({"english": 95, "german": 2, "french": 1, None: 60}, ("english",)), ({"english": 95, "german": 3, None: 60}, ("english", "german")),
                                          ({"dutch": 30, "french": 60, "german": 30}, ("french", "dutch", "german")), ({"german": 20, None: 50}, ("german", "english")), ({"french": 39, "german": 26, "russian": 15, "turkish": 9, "dutch": 2, None: 411}, ("french", "german", "russian", "turkish", "english")),
                                          ({"dutch": 1, None: 300}, ("english",)), ({"dutch": 1, None: 5}, ("dutch", "english")), ({"german": 200, None: 300}, ("german",))])
def test_which_languages_count(votes, found):
    seen = [Seen(i, name, "") for i, name in enumerate(name for name, n in votes.items() for _ in range(n))]
    assert languages_of(seen) == languages_of(seen[::-1]) == found


def test_titles_keep_english():
    titles = ["Salt and pepper mill", "Guide to cooking", "Lord of rings", "The kitchen table", "Tea for two", "House on fire", "Crema para la piel"]
    assert "english" in languages_of(look_at(titles)) and languages_of(look_at([f"{title} {i}" for i in range(50) for title in titles[:-1]] + titles[-1:])) == ("english",)


def test_words_that_are_good_in_another_language_stay():
    pytest.importorskip("stopwordsiso")
    war = ["This is the war that was, and the man of the war is in it.", "Of the war and the art of it, that is for the man."]
    german = ["Es war der Mann, der die Kunst und das Tor im Auge hat.", "Das ist nicht das, was der Mann von der Kunst hat, und es war gut."]
    for shares, stays in (((1, .1), True), ((.1, 1), False)):
        counter = TermCounter(stop_words="auto").fit(many(*zip((war, german), shares)))
        assert set(counter.languages_) == {"english", "german"} and ("war" in counter.vocabulary_) == ("war" in counter.found_.spared) == stays
        assert not {"der", "die", "das", "was", "ist", "the", "and", "that"} & set(counter.vocabulary_)
    assert spared_words(("german",), look_at(german)) == spared_words((), []) == () and found_in([], TermCounter()) == Auto(("english",))


MESSAGES = ["No se puede abrir", "El campo no existe", "El usuario no tiene clave", "No se ha guardado un cambio", "Un error no se ha corregido", "No se ve un nombre",
            "El archivo de la cuenta no se pudo leer", "Los datos de la red no son de un usuario", "El disco está lleno y los cambios se pierden", "Se cierra la ventana del programa",
            "La orden no es válida para un grupo", "Las claves de los grupos no son iguales", "El nombre del campo no es correcto", "Los cambios se guardan en un archivo"]
CATALAN = ["Els fitxers amb les dades no són en aquest ordinador", "El camp no existeix per aquest usuari, és a dir", "Les claus dels grups no són iguals, però el nom és el mateix"]


def test_a_relative_needs_words_of_its_own():
    "Short texts in Spanish, some of which have more of the frequent words of Catalan or Portuguese"
    alone, mixed = look_at(many((MESSAGES, 1))), look_at(many((MESSAGES, .8), (CATALAN, .2)))
    assert len(languages_of(alone)) > 1 and {one.language for one in told_apart(alone)} - {None} == {"spanish"}
    assert set(languages_of(told_apart(mixed))) == {"spanish", "catalan"}
    for seen in (alone, mixed):
        told = {one.number: one.language for one in told_apart(seen)}
        assert told == {one.number: one.language for one in told_apart(seen[::-1])}
        assert [(one.number, one.text) for one in told_apart(seen)] == [(one.number, one.text) for one in seen]
    counter = TermCounter(stop_words="auto").fit(many((MESSAGES, 1)))
    assert counter.languages_ == ("spanish",) and not counter.found_.spared


def test_other_languages_are_told_apart_as_before():
    assert told_apart([]) == []
    for texts in (many((ENGLISH, 1), (GERMAN, .1)), many((GERMAN, 1)), many(([SAID["swedish"]], .5), ([SAID["norwegian"]], .3), ([SAID["danish"]], .2)),
                  many(([SAID["russian"]], 1), ([SAID["ukrainian"]], .2)), many(([SAID["portuguese"]], 1), ([SAID["spanish"]], .2))):
        assert told_apart(look_at(texts)) == look_at(texts)


@pytest.mark.parametrize("share", [.05, .1, .3])
def test_texts_in_both_languages_hide_none(share):
    both = [f"{' '.join(ENGLISH[:2]*2)} {' '.join(GERMAN[:2]*2)}", f"{' '.join(ENGLISH*2)} {' '.join(GERMAN)}"]
    long = [[" ".join(texts[i:] + texts[:i]) for i in range(4)] for texts in (ENGLISH, GERMAN)]
    for first, second in (long, long[::-1]):
        seen = look_at(many((first, .6), (second, .3), (both, share)))
        assert set(languages_of(told_apart(seen))) == {"english", "german"}


def test_an_old_pickle_and_other_settings():
    counter = TermCounter(stop_words="english").fit(ENGLISH)
    del counter.found_                                                                # as one of an earlier version
    assert found_of(counter) == Auto() and counter.languages_ == () and counter.transform(ENGLISH).nnz
    counter.fit(ENGLISH).set_params(stop_words="auto")
    with pytest.raises(NotFittedError, match="known after a fit"): counter.transform(ENGLISH)
    with pytest.warns(UserWarning, match="inconsistent"): counted_over([["don't do the thing"]], Local(), stop_words=["don't", "the"])


def test_english_stays_as_it_was():
    texts = [f"{text} {text}" for text in many((ENGLISH, 1), (["goal", "", "ball law"], .5))]      # not short
    for options in ({}, dict(ngram_range=(1, 2)), dict(lowercase=False), dict(token_pattern=WORDS)):
        auto, named = TermCounter(stop_words="auto", **options), TermCounter(stop_words="english", **options)
        assert (auto.fit_transform(texts) != named.fit_transform(texts)).nnz == 0 and auto.vocabulary_ == named.vocabulary_
        assert auto.languages_ == ("english",) and named.languages_ == () and auto.get_stop_words() == named.get_stop_words()
    a, b = TopicTree(2, random_state=0).fit(texts), TopicTree(2, random_state=0, stop_words="english").fit(texts)
    assert a.outline() == b.outline() and str(a.documents_) == str(b.documents_) and "Stop words left out: English." in str(b.documents_) and (a.labels_ == b.labels_).all()
    assert list(count_terms(texts)[1]) == list(count_terms(texts, stop_words="english")[1])


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("NMF2_DATA"), reason="needs NMF2_DATA, a folder of collections")
@pytest.mark.parametrize("name", ["20newsgroups", "short_20newsgroups_subjects", "reuters21578", "short_reuters_titles", "arxiv_2level", "classic4_raw"])
def test_english_collections_are_english(name):
    path = Path(os.environ["NMF2_DATA"])/f"{name}.jsonl.xz"
    if not path.exists(): pytest.skip(f"{name} is not in NMF2_DATA")
    texts = list(read(path).texts)
    assert languages_of(look_at(texts)) == ("english",)
    assert sum(one.language not in (None, "english") for one in look_at(texts)) <= 3


def test_two_languages():
    pytest.importorskip("stopwordsiso")
    texts = [f"{text} {text}" for text in many((ENGLISH, 1), (GERMAN, .5))]
    counter = TermCounter(stop_words="auto").fit(texts)
    assert counter.languages_ == ("english", "german") and counter.get_stop_words() == stop_list("german+english")
    assert set(counter.vocabulary_) >= {"ball", "tor", "goal", "gesetz", "law"} and not set(counter.vocabulary_) & {"der", "und", "the", "and", "das"}
    assert counter.fit(many((ENGLISH, 1))).languages_ == ("english",)                  # another fit looks again
    assert counter.set_params(stop_words=None).fit(texts).languages_ == () and counter.get_stop_words() is None
    assert not hasattr(clone(counter), "found_")
    assert text_pipeline().fit(texts)["count"].languages_ == ("english", "german")


@pytest.mark.parametrize("options, found", [(dict(tokenizer="stem:german"), ("english", "german")), (dict(tokenizer="stem:porter"), ("english",)),
                                            (dict(tokenizer=str.split), ("english",)), (dict(analyzer="char"), ()), (dict(analyzer=str.split), ())])
def test_what_else_says_the_language(options, found):
    if "stem:" in str(options): pytest.importorskip("snowballstemmer")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counter = TermCounter(stop_words="auto", token_pattern=None if callable(options.get("tokenizer")) else WORDS, **options).fit(ENGLISH)
    assert counter.languages_ == found


def test_before_a_fit_nothing_is_known():
    with pytest.raises(NotFittedError, match="known after a fit"): TermCounter(stop_words="auto").build_analyzer()
    with pytest.raises(NotFittedError, match="known after a fit"): TermCounter(stop_words="AUTO ", vocabulary=["goal"]).transform(["a goal"])
    for bad, words in (("auto+german", "joined by .*'auto.german'"), ("german+klingon", "german.klingon"), ("english,german", "joined by '.', got 'english,german'"), (7, "'auto', or None")):
        with pytest.raises(ValueError, match=words): TopicTree(2, stop_words=bad).fit(ENGLISH)


def test_without_the_lists(monkeypatch):
    monkeypatch.setattr(counting, "LISTS", "nmf2_a_package_that_is_nowhere")
    with pytest.warns(UserWarning, match=r"there are texts in German, of which only .*pip install 'nmf2\[languages\]'"): counter = TermCounter(stop_words="auto").fit(GERMAN)
    assert counter.get_stop_words() == FREQUENT["german"] and "und" not in counter.vocabulary_
    with pytest.warns(UserWarning, match="texts in German"): counts = counted_over([GERMAN[:2], GERMAN[2:]], Local(), stop_words="auto")
    assert counts.found.languages == ("german",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TermCounter(stop_words="auto").fit(ENGLISH).languages_ == ("english",)
        counter.transform(GERMAN)


def test_it_is_told():
    assert told_languages(()) == "" and told_languages(("english",)) == "Stop words left out: English."
    assert told_languages(("german", "english")) == "Stop words left out: German, English."
    assert str(TopicTree(2, min_df=1).fit(GERMAN*2).documents_).endswith("Stop words left out: German.")


def test_tags_are_told(tmp_path, capsys):
    what = ["goals of strikers", "laws for voters", "bread from ovens"]
    pages = [f"<p>Page {i} on <b>{what[i % 3]}</b> and <a href='https://example.org/{i}'>more {what[i % 3]}</a>.</p>" for i in range(30)]
    assert tagged_share(look_at(["<a.b@mail> <b-c@mail> and <p-value> a<b and c>d"])) == 0
    others = [f"If a < b and <goal> is not </ the> {what[i % 3]}, {i} is the page <of> {what[i % 3]}." for i in range(30)]
    assert tagged_share(look_at(pages)) == 1 and tagged_share(look_at(others)) == 0 == tagged_share([])
    told = "About 100% of the texts have tags of HTML, which are counted as words: better take them out first."
    assert told in str(TopicTree(2).fit(pages).documents_) and "HTML" not in str(TopicTree(2).fit(others).documents_)
    assert told_found(found_in(look_at(pages + others), TermCounter())).startswith("Stop words left out: English. About 50% of the texts") and told_found(Auto()) == ""
    assert "HTML" not in told_found(found_in(look_at(pages[:1] + others), TermCounter()))
    (tmp_path/"pages.jsonl").write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    assert main(["cluster", str(tmp_path/"pages.jsonl"), "--leaves", "2", "--out", str(tmp_path/"out")]) == 0
    assert told in " ".join(capsys.readouterr().err.split()) and told in (tmp_path/"out"/"report.txt").read_text()
    assert told.removeprefix("About 100% ") in " ".join(str(fit_topics(TopicTree(2), [pages[:20], pages[20:]], engine=Local()).documents_).split())


def test_entities_are_told(tmp_path):
    texts = [f"It&#039;s {what} &amp; &quot;{what}s&quot; number {i}" for i in range(15) for what in ("goal", "law")]
    assert [escaped_share(look_at([text])) for text in ("&#x27;", "a &LT; b", "&eacute;t&eacute;", "p = &x; q", "AT&T;", "& amp;", "&;", "")] == [1, 1, 1, 0, 0, 0, 0, 0]
    told = "About 100% of the texts have signs in the way of HTML, such as &quot;, which are counted as words: Python's html.unescape(text) has the signs themselves."
    model = TopicTree(2, min_df=1).fit(texts)
    assert told in str(model.documents_) and "HTML" not in str(TopicTree(2, min_df=1).fit(many((ENGLISH, .1)) + texts[:2]).documents_)
    model.save(tmp_path/"m.nmf2")
    assert found_of(TopicTree.load(tmp_path/"m.nmf2").pipeline_["count"]).escaped == 1 and told in str(TopicTree.load(tmp_path/"m.nmf2").documents_)


# ---- points

POINTED = {"arabic": ["أَخْبَرَنَا مُحَمَّدٌ عَنْ زَيْنَبَ أَنَّ هَذَا كَانَ فِي الْمَسْجِدِ", "كَانَ مُحَمَّدٌ فِي الْبَيْتِ مَعَ زَيْنَبٍ وَ لَا أَحَدَ", "هَذِهِ الصَّلَاةُ فِي الْمَسْجِدِ عَلَى الْإِمَامِ", "الَّذِي عَلَى الْإِمَامِ مِنَ الصَّلَاةِ أَوْ مَا قَدْ كَانَ"],
           "hebrew": ["הַכַּדּוּר שֶׁל הַשַּׂחְקָן לֹא הָיָה עַל הַקַּו", "הוּא אֲבָל לֹא רָאָה אֶת הַכַּדּוּר שֶׁל הַשַּׂחְקָן", "זֶה הַסֵּפֶר שֶׁל הַמּוֹרָה כִּי הִיא עַל הַבַּמָּה", "אִם יֵשׁ לוֹ סֵפֶר הוּא עִם הַמּוֹרָה"]}

@pytest.mark.parametrize("language", POINTED)
def test_points_make_no_difference(language, tmp_path):
    pytest.importorskip("stopwordsiso")
    pointed = many((POINTED[language], .2))
    bare = [languages.POINT.sub("", text) for text in pointed]
    assert all(language_of(text) == language for text in POINTED[language]) and pointed != bare
    a, b = TopicTree(2, min_df=1).fit(pointed), TopicTree(2, min_df=1).fit(bare)
    assert list(a.vocab_) == list(b.vocab_) and a.outline() == b.outline() and str(a.documents_) == str(b.documents_) and (a.labels_ == b.labels_).all()
    assert a.pipeline_["count"].languages_ == (language,) and f"Stop words left out: {language.capitalize()}." in str(a.documents_)
    assert not FREQUENT[language] & set(a.vocab_) and (a.predict(bare) == b.predict(pointed)).all()
    assert list(count_terms(pointed, stop_words=language)[1]) == list(count_terms(bare, stop_words=language)[1])
    parts = counted_over([pointed[:60], pointed[60:]], Local(), stop_words="auto", token_pattern=WORDS)
    assert parts.found == TermCounter(stop_words="auto", token_pattern=WORDS).fit(pointed).found_
    a.save(tmp_path/"m.nmf2")
    assert (TopicTree.load(tmp_path/"m.nmf2").predict(pointed) == a.labels_).all()
    last = POINTED[language][0].split()[-1]
    with pytest.raises(ValueError, match=f"is not: there is '{languages.POINT.sub('', last)}'"): a.drop_words(last)

def test_no_english_for_letters_of_other_scripts():
    georgian = ["ბურთი კარშია", "კანონი მიიღეს", "მოთამაშე და კარი"]*20
    assert languages_of(look_at(georgian)) == () and languages_of(look_at(["ბურთი goal of it", "law"])) == ("english",)
    counter = TermCounter(stop_words="auto").fit(georgian)
    assert counter.languages_ == () and not counter.get_stop_words() and told_found(counter.found_, "auto") == ""
    assert found_in(look_at(georgian), TermCounter(tokenizer="chinese")).languages == ("chinese",)
    model = TopicTree(2, min_df=1).fit(georgian)
    assert "Stop words" not in str(model.documents_) and model.predict(["ბურთი კარშია"]) >= 0


def test_a_model_keeps_its_words(tmp_path):
    pytest.importorskip("stopwordsiso")
    texts = many((ENGLISH, 1), (GERMAN, .3), n=200)
    model = TopicTree(3).fit(texts)
    model.save(tmp_path/"tree.nmf2", keep_texts=True)
    loaded = TopicTree.load(tmp_path/"tree.nmf2")
    assert loaded.stop_words == "auto" and loaded.pipeline_["count"].languages_ == ("english", "german") and str(loaded.documents_) == str(model.documents_)
    new = ["Le ballon est dans le but, et les joueurs sont contents de la victoire."]*5 + ["Der Ball ist im Tor, und das Gesetz ist leer."]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one in (model, loaded):
            strange = {word for word, _ in count_new(one, new).strange}
            assert {"dans", "les"} <= strange and not {"der", "und"} & strange and strange == {word for word, _ in count_new(model, new).strange}
    for one in (model, loaded):
        one.update(new*3)
        assert one.pipeline_["count"].languages_ == ("english", "german") and "German" in str(one.documents_)
        drop_words(one, "ball")
        assert "texts are short. Taken out later: ball" in str(one.documents_)
    assert list(model.vocab_) == list(loaded.vocab_)


def test_partitions_are_of_one_collection(tmp_path):
    pytest.importorskip("stopwordsiso")
    texts = many((ENGLISH, 1), (GERMAN, .4))                                          # one language after the other
    for n, options in ((1, {}), (7, {}), (300, dict(ngram_range=(1, 2)))):
        parts = [list(part) for part in np.array_split(np.array(texts, object), n)]
        counts = counted_over(parts, Local(), stop_words="auto", **options)
        here = TermCounter(stop_words="auto", **options).fit(texts)
        assert counts.found == here.found_ and here.languages_ == ("english", "german")
        assert set().union(*(part.words for part in counts.parts)) == set(here.vocabulary_)
    assert counted_over([["12"], ["?"]], Local(), stop_words="auto").found.languages == ("english",)
    assert counted_over([GERMAN], Local(), stop_words="english").found is None
    path = tmp_path/"texts.jsonl"
    path.write_text("".join(json.dumps(dict(text=text)) + "\n" for text in texts))
    model, here = fit_topics(TopicTree(2), path, whole=100, piece=5000), TopicTree(2).fit(texts)
    assert list(model.vocab_) == list(here.vocab_) and str(model.documents_) == str(here.documents_) and "German" in str(here.documents_)


def test_commands_say_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts in (("de", GERMAN*5), ("en", ENGLISH*5)):
        (tmp_path/f"{name}.txt").write_text("\n".join(texts), encoding="utf-8")
        assert main(["cluster", f"{name}.txt", "--leaves", "2", "--min-df", "1"]) == 0
        assert ("Stop words left out: German." in capsys.readouterr().err) == (name == "de")
        assert ("Stop words left out: German." in (tmp_path/"nmf2-results"/name/"report.txt").read_text(encoding="utf-8")) == (name == "de")
    assert main(["cluster", "de.txt", "--leaves", "2", "--min-df", "1", "--stop-words", "german+english", "--out", "both", "--quiet"]) == 0


# ---- short texts

TICKETS = dict(
    english=["I can't log in", "password forgotten, the link does not arrive", "invoice {} is wrong", "where is my parcel {}?", "the app crashes after the update", "login no longer works"],
    german=["ich kann mich nicht einloggen", "Passwort vergessen, Link kommt nicht an", "Rechnung {} ist falsch", "wo ist mein Paket {}?", "App stürzt ab nach dem Update", "bitte Rechnung für Mai senden"],
    french=["je ne peux pas me connecter", "mot de passe oublié", "la facture {} est fausse", "où est mon colis {}?", "l'application plante après la mise à jour"])

def tickets(*names, n=600, seed=0):
    rng = np.random.default_rng(seed)
    templates = [template for name in names for template in TICKETS[name]]
    return [templates[rng.integers(len(templates))].format(rng.integers(10_000)) for _ in range(n)]

def found_together(texts): return languages_of(told_apart(look_at(texts)))

@pytest.mark.parametrize("names", [("english",), ("german",), ("french",), ("english", "german")])
def test_one_liners_tell_their_language_together(names):
    "Hardly any does by itself, and most differ in nothing but numbers"
    texts = tickets(*names)
    known = sum(one.language is not None for one in look_at(texts))
    assert known < len(look_at(texts))*(1 if names == ("french",) else .5)          # *la* and *est* tell by themselves
    assert set(found_together(texts)) == set(names)

def test_words_of_titles_are_no_other_language():
    for titles in (["Do as I say", "No more tears", "An apple a day", "So long", "On the road", "To be or not to be", "Me and you"], ["Kidney stones", "Gamma rays", "Laser cooling"], []):
        assert found_together(titles) == ("english",)

def test_words_of_content_count_in_short_texts():
    short = ["fire in the lab", "the system is down", "wrong bill for May", "call dropped again", "empty box", "name is wrong"]*40
    counter = TermCounter(stop_words="auto").fit(short)
    assert {"fire", "system", "bill", "call", "empty", "name"} <= set(counter.vocabulary_) and not {"in", "the", "is", "for"} & set(counter.vocabulary_)
    assert counter.found_.short and CONTENT <= stop_list("english") and CONTENT.isdisjoint(counter.get_stop_words())
    assert told_found(counter.found_) == "Stop words left out: English, but for words of content, since texts are short."
    assert not CONTENT & set(TermCounter(stop_words="english").fit(short).vocabulary_)
    long = [f"{text} {' and the '.join(['goal']*12)}" for text in short]
    assert not CONTENT & set(TermCounter(stop_words="auto").fit(long).vocabulary_)
    model = TopicTree(6, random_state=0).fit(short)
    assert adjusted_rand_score(np.arange(240) % 6, model.labels_) == 1
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "m.nmf2"))
        twin = TopicTree.load(Path(folder, "m.nmf2"))
    assert twin.predict(["a fire", "the bill"]).tolist() == model.predict(["a fire", "the bill"]).tolist()

def test_stop_words_that_were_given_are_told():
    texts = many((ENGLISH, .1))
    for given, told in (("english", "Stop words left out: English."), ("en+de", "Stop words left out: English, German."), (["the", "and", "the"], "Stop words left out: 2."), ([], ""), (None, "")):
        words = TopicTree(2, stop_words=given).fit(texts).documents_.words
        assert words.endswith(told) and ("Stop words" in words) == bool(told)
