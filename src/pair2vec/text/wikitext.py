"""Wikitext of a MediaWiki article to plain text, one paragraph per line, in linear time.

The markup is peeled off in the order MediaWiki reads it: what hides other markup (comments,
nowiki, references), then what nests (templates, tables, links), then what lives within a line.
No pattern can scan a stretch again and again: repeats are possessive or stop at the character
that could begin the next match. Most begin with a literal and have a constant replacement, which
keeps the work inside C.
"""

import re

from pair2vec.text.sentences import decode_entities

# Names that also begin titles of other languages ("Imagine: John Lennon") are left out.
_FILE_NAMESPACES = (
    "file image media datei bild fichier média archivo imagen ficheiro imagem arquivo"
    " immagine bestand afbeelding plik grafika fil tiedosto kuva soubor súbor dosya resim berkas"
    " gambar tập_tin hình fitxer imatge fájl kép fişier fișier slika datoteka vaizdas"
    " attēls pilt dosiero fitxategi mynd файл изображение медиа зображення датотека слика"
    " αρχείο εικόνα ملف صورة وسائط پرونده تصویر קובץ תמונה מדיה चित्र ไฟล์ ภาพ"
    " 文件 档案 檔案 图像 圖像 媒体 媒體 ファイル 画像 メディア 파일 그림 미디어"
)
_CATEGORY_NAMESPACES = (
    "category kategorie catégorie categoría categoria categorie kategoria kategori kategória"
    " kategorija kategorio kategooria luokka flokkur thể_loại категория категорія категорија"
    " κατηγορία تصنيف رده קטגוריה श्रेणी หมวดหมู่ 分类 分類 カテゴリ 분류"
)
_UNREAD_NAMESPACES = frozenset(f"{_FILE_NAMESPACES} {_CATEGORY_NAMESPACES}".split())

# What these enclose is no prose. Inline <code>, <kbd>, <samp>, <tt> and <var> are not among them:
# their words are part of the sentence around them.
_NO_PROSE_TAGS = (
    "categorytree|ce|chem|gallery|graph|hiero|imagemap|includeonly|indicator|inputbox|mapframe"
    "|maplink|math|phonos|score|script|section|style|templatedata|templatestyles|timeline"
)
_LITERAL_TAGS = "nowiki|pre|source|syntaxhighlight"
_BLOCK_TAGS = (
    "address|article|aside|blockquote|br|caption|center|dd|details|div|dl|dt|figcaption|figure"
    "|h[1-6]|hr|li|ol|p|poem|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_INLINE_TAGS = (
    f"{_NO_PROSE_TAGS}|{_LITERAL_TAGS}|ref|references"
    "|a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|noinclude"
    "|onlyinclude|nobr|q|rb|rp|rt|rtc|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var"
    "|wbr"
)

_COMMENT_OR_LITERAL = re.compile(
    rf"<(?:!--(?:[^-]++|-(?!->))*+(?:-->)?"
    rf"|(?=[nNpPsS])(?i:({_LITERAL_TAGS}))\b[^<>]*+(?<!/)>"
    r"([^<]*+(?:<(?!/?(?i:\1)\b)[^<]*+)*+)</(?i:\1)\s*>)"
)
_REFERENCE = re.compile(
    r"<[rR][eE][fF]\b[^<>]*+>"
    r"(?:(?<=/>)|[^<]*+(?:<(?!/?[rR][eE][fF]\b)[^<]*+)*+</[rR][eE][fF]\s*>)"
)
_NO_PROSE = re.compile(
    rf"<(?=[a-zA-Z])(?i:({_NO_PROSE_TAGS}))\b[^<>]*+>"
    r"(?:(?<=/>)|[^<]*+(?:<(?!/?(?i:\1)\b)[^<]*+)*+</(?i:\1)\s*>)"
)
_BLOCK_TAG = re.compile(rf"</?(?=[a-zA-Z])(?i:{_BLOCK_TAGS})\b[^<>]*+>")
_INLINE_TAG = re.compile(rf"</?(?=[a-zA-Z])(?i:{_INLINE_TAGS})\b[^<>]*+>")

_SHALLOW_TEMPLATE = re.compile(r"\{\{(?<!\{\{\{)[^{}]*+(?:\{\{[^{}]*+\}\}[^{}]*+)*+\}\}")
_BRACES = re.compile(r"(\{\{++|\}\}++)")
_TABLE_EDGE = re.compile(r"(\n[ \t:]*+(?:\{\||\|\}))")
_CELL_START = re.compile(r"[ \t:]*+(?:\|\+?|!)")
_TABLE_ROW = re.compile(r"[ \t:]*+\|-")
_CELL_EDGE = re.compile(r"\|\||!!")
# At the end of a line, cell or element; or before what is no small letter, but not in "St. Ives".
_SENTENCE_END = re.compile(
    r"\w(?:\w|[)\]%'\"’”»]++)[.!?…]['\"’”»]*+(?=[ \t]*+(?:<|\||$)"
    r"|(?<!\b\w\w\.)\s++['\"‘“«(\[]*+[^\W\da-zß-öø-ÿ_])|\w\w[。！？।۔]",
    re.MULTILINE,
)
_UNSPACED = re.compile(r"\w{5}[。！？]")
_SHORTEST_SENTENCE = 6
"""Words, of a sentence in a table."""
_WORD = re.compile(r"[^\W\d_]\w*+")
_EXTERNAL_LINK = re.compile(
    r"\[(?:https?:|ftps?:|ircs?:|news:|mailto:|(?=//))[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]"
)
_BARE_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"\[\]|]*[^\s<>\"\[\]|.,;:!?)']")
_LANGUAGE_PREFIX = re.compile(r"[a-z]{2,3}(?:-[a-z]{1,10}){0,2}|simple")

_HEADING = re.compile(r"\n=[^\n]*=[ \t]*+(?=\n)")
_WRAPPED_LINE = re.compile(
    r"\n(?=[a-zà-öø-ÿа-яё])(?:(?<=[a-zà-öø-ÿа-яё,]\n)|(?<=[a-zà-öø-ÿа-яё,] \n))"
)
_LINE_MARKERS = re.compile(r"\n(?:[\s*#:;]++|-{4,}+)++")
_TABLE_DEBRIS = re.compile(r"\n[ \t]*+[|!][^\n]*+")
_SWITCH = re.compile(r"__[^\W\d_a-z]{3,}+__")
_ITALIC_POSSESSIVE = re.compile(r"''(?<!''')(?!')([^'\n]++)'''(?=s\b)")
_ELIDED_ARTICLE = re.compile(r"'''(?<=[\s(][cdjlmnstCDJLMNST]''')(?!')(?=[^'\n]++''(?!'))")
_QUOTES = re.compile(r"''+")
_STRAY_BRACKETS = {bracket: re.compile(rf"\{bracket}\{bracket}++") for bracket in "[]{}"}

_MARKUP_AS_ENTITIES = str.maketrans({sign: f"&#{ord(sign)};" for sign in "[]{}|'<>=*:;!_/-#&"})
_LINE_ENDS = "\r\v\f\x85\u2028\u2029"
_SPACES = "\t\xa0\u2002\u2003\u2009\u200a\u202f\u3000"
_INVISIBLE = "\xad\u200b\u200e\u200f\ufeff"

_EMPTY_PARENTHESES = re.compile(r"\([ ,;:]*+\)")
_PARENTHESIS_START = re.compile(r"\([ ,;:]++")
# Not the spaces of " .NET" and of ". . .".
_IDLE_SPACE = re.compile(r" (?=[ ,;)\n.])(?!\.\S|\. \.|(?<=\. )\.)")
_IDLE_COMMA = re.compile(r",(?=[,;)])")
_IDLE_SEMICOLON = re.compile(r";(?=\))")
_IDLE_LINE_START = re.compile(r"\n[ ,;]++")
_WORDLESS_LINES = re.compile(r"\n[\W_]*(?=\n)")


def clean_wikitext(wikitext: str) -> str:
    """The prose of an article, one paragraph per line, without blank lines.

    Any string is accepted: markup that is never closed is read as text.
    """
    text = _without_invisible_characters(wikitext.replace("\r\n", "\n"))
    text = _without_hidden_content(text)
    # The newlines let every rule about the start or end of a line be a rule about "\n".
    text = f"\n{text}\n"
    text = _without_templates(text)
    text = _without_tables(text)
    text = _without_urls(text)
    text = _with_links_as_text(text)
    text = _without_line_markup(text)
    text = _with_entities_decoded(text)
    return _tidy(text)


def _without_invisible_characters(text: str) -> str:
    for invisible in _INVISIBLE:
        text = text.replace(invisible, "")
    return text


def _without_hidden_content(text: str) -> str:
    """Drop comments, references and other elements whose content is no prose."""
    if "<" not in text:
        return text
    text = _COMMENT_OR_LITERAL.sub(_literal_content, text)
    text = _REFERENCE.sub("", text)
    return _NO_PROSE.sub("", text)


def _literal_content(match: re.Match[str]) -> str:
    """The content of <nowiki> behind entities, safe from every later rule; else nothing."""
    tag, content = match.groups()
    if tag is None or tag.lower() != "nowiki":
        return ""
    return _with_entities_decoded(content).translate(_MARKUP_AS_ENTITIES)


def _without_templates(text: str) -> str:
    """Drop ``{{templates}}`` and ``{{{parameters}}}`` at any depth."""
    # Each round takes two levels, so that few articles need the walk.
    for _ in range(2):
        text = _SHALLOW_TEMPLATE.sub("", text)
        if "{" not in text or "{{" not in text:
            return text
    return _without_nested_braces(text)


def _without_nested_braces(text: str) -> str:
    """Match runs of braces as MediaWiki does, threes before twos; drop what they enclose."""
    first, *rest = _BRACES.split(text)
    kept = [first]
    opened: list[tuple[int, int]] = []  # where in `kept` a run of braces began, and its length
    for run, segment in zip(rest[::2], rest[1::2], strict=True):
        if run[0] == "{":
            opened.append((len(kept), len(run)))
        else:
            _close_braces(len(run), opened, kept)
        kept.append(segment)
    return "".join(kept)


def _close_braces(closing: int, opened: list[tuple[int, int]], kept: list[str]) -> None:
    while closing >= 2 and opened:
        start, opening = opened.pop()
        matched = 3 if opening >= 3 and closing >= 3 else 2
        del kept[start:]
        closing -= matched
        if opening - matched >= 2:
            opened.append((start, opening - matched))


def _without_tables(text: str) -> str:
    """Drop ``{| tables |}`` but for prose in them.

    One that is never closed loses only its marker and attributes.
    """
    if "{" not in text or "{|" not in text:
        return text
    first, *rest = _TABLE_EDGE.split(text)
    kept = [first]
    opened: list[int] = []
    closed: list[range] = []  # of `kept`; none is within another, so that no text is read twice
    for edge, segment in zip(rest[::2], rest[1::2], strict=True):
        if edge[-1] == "|":
            opened.append(len(kept))
        elif opened:
            table = range(opened.pop(), len(kept))
            while closed and closed[-1].start >= table.start:
                closed.pop()
            closed.append(table)
        else:
            segment = edge + segment  # a stray end, left to the rules on lines
        kept.append(f"\n{segment}")
    for start in opened:
        kept[start] = _without_table_attributes(kept[start])
    for table in closed:
        for part in table:
            is_start = rest[2 * part - 2][-1] == "|"
            kept[part] = _table_prose(
                kept[part].partition("\n")[2], starts_with_attributes=is_start
            )
    return "".join(kept)


def _table_prose(rows: str, *, starts_with_attributes: bool) -> str:
    """What reads as sentences in the cells of some rows, a paragraph each."""
    if starts_with_attributes:
        rows = rows.partition("\n")[2]
    if not _SENTENCE_END.search(rows):
        return ""
    # Their brackets may be unbalanced, and they have pipes, as cells do.
    rows = _with_links_as_text(_without_urls(_WRAPPED_LINE.sub(" ", rows)))
    prose: list[str] = []
    for line in rows.split("\n"):
        if not _SENTENCE_END.search(line) or _TABLE_ROW.match(line):
            continue
        start = _CELL_START.match(line)
        for cell in _CELL_EDGE.split(line[start.end() :]) if start else [line]:
            attributes, _, content = cell.partition("|")
            parts = _BLOCK_TAG.split(content or attributes)
            prose += filter(_reads_as_sentences, parts)
    # With blank lines, lest one cell's text is taken for the wrapped end of another's.
    return "".join(f"\n\n{part}\n" for part in prose)


def _reads_as_sentences(text: str) -> bool:
    """Not a list of names, a title or a measurement."""
    if not _SENTENCE_END.search(text):
        return False
    if _UNSPACED.search(text):
        return True
    words = _WORD.findall(text)
    capitals = sum(word[0].isupper() for word in words)
    return len(words) >= _SHORTEST_SENTENCE and 2 * capitals <= len(words)


def _without_table_attributes(unclosed_table: str) -> str:
    _, attributes, *cells = unclosed_table.split("\n", 2)
    return "\n".join(["", *cells]) if "=" in attributes else unclosed_table


def _without_urls(text: str) -> str:
    """Keep the label of an external link; drop addresses."""
    if "//" in text or "[mailto:" in text:
        text = _EXTERNAL_LINK.sub(r"\1", text)
    return _BARE_URL.sub("", text) if "://" in text else text


def _with_links_as_text(text: str) -> str:
    """Replace each ``[[link]]`` by the words a reader sees.

    A link that holds further links (a picture with a caption) is judged by the text before the
    first of them, so that no level of nesting copies the text of the levels within.
    """
    first, *parts = text.split("[[")
    kept = [first]
    opened: list[int] = []
    for part in parts:
        segments = part.split("]]")
        if len(segments) == 2:  # opens and closes: nearly every link
            link, after = segments
            kept.append(_link_text(link) if "|" in link or ":" in link else link)
            kept.append(after)
            continue
        opened.append(len(kept))
        kept.append(segments[0])
        for segment in segments[1:]:
            if opened:
                _close_link(opened.pop(), kept)
            kept.append(segment)
    return "".join(kept)


def _close_link(start: int, kept: list[str]) -> None:
    link = kept[start]
    if start + 1 == len(kept):
        kept[start] = _link_text(link)
    elif _is_unread(link):
        del kept[start:]
    else:
        kept[start] = link[link.find("|") + 1 :]


def _link_text(link: str) -> str:
    """The visible text of the inside of a link, ``target`` or ``target|label``."""
    target, pipe, label = link.partition("|")
    if ":" in target:
        return _namespaced_link_text(target, label)
    if pipe and not label:
        return target.partition(",")[0].partition(" (")[0]
    return label or target


def _namespaced_link_text(target: str, label: str) -> str:
    if _is_unread(target):
        return ""
    is_interlanguage = not label and _LANGUAGE_PREFIX.fullmatch(target.partition(":")[0])
    return "" if is_interlanguage else label or target.lstrip(" :")


def _is_unread(link: str) -> bool:
    """Whether a link shows a file or puts the article into a category."""
    namespace, colon, _ = link.partition(":")
    return bool(colon) and namespace.strip().lower().replace(" ", "_") in _UNREAD_NAMESPACES


def _without_line_markup(text: str) -> str:
    """Drop headings, debris of tables, markers at the start of lines, quotes, tags and switches."""
    text = _TABLE_DEBRIS.sub("\n", text)
    text = _HEADING.sub("\n", text)
    # A line that goes on in lower case was wrapped by hand and belongs to the same paragraph.
    text = _WRAPPED_LINE.sub(" ", text)
    # Before the tags, whose removal would join quotes that are apart: ''x''<sub>''i''</sub>.
    text = _without_quotes(text)
    if "<" in text:
        text = _BLOCK_TAG.sub("\n", text)
        text = _INLINE_TAG.sub("", text)
    if "_" in text:
        text = _SWITCH.sub("", text)
    text = _LINE_MARKERS.sub("\n", text)
    for bracket, stray in _STRAY_BRACKETS.items():
        if bracket in text:
            # A space, lest the neighbours of a removed marker form a new one.
            text = stray.sub(" ", text)
    return text


def _without_quotes(text: str) -> str:
    """Drop bold and italics, but no apostrophe of ``''Titanic'''s`` or ``L'''Orient''``."""
    if "'''s" in text:
        text = _ITALIC_POSSESSIVE.sub(r"\1'", text)
    text = _ELIDED_ARTICLE.sub("'", text)
    return _QUOTES.sub("", text)


def _with_entities_decoded(text: str) -> str:
    if "&" not in text:
        return text
    text = text.replace("&nbsp;", " ").replace("&ndash;", "–")
    return _without_invisible_characters(decode_entities(text))


def _tidy(text: str) -> str:
    """Mend what removals leave: empty parentheses, spaces before commas, lines without words."""
    text = _with_plain_spaces(text)
    text = _EMPTY_PARENTHESES.sub(" ", text)
    text = _PARENTHESIS_START.sub("(", text)
    text = _IDLE_SPACE.sub("", text)
    text = _IDLE_LINE_START.sub("\n", text)
    text = _IDLE_COMMA.sub("", text)
    text = _IDLE_SEMICOLON.sub("", text)
    return _WORDLESS_LINES.sub("", text).strip()


def _with_plain_spaces(text: str) -> str:
    for line_end in _LINE_ENDS:
        text = text.replace(line_end, "\n")
    for space in _SPACES:
        text = text.replace(space, " ")
    return text
