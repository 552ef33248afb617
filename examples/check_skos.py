"""Check a thesaurus in SKOS by the rules of qSKOS: `python examples/check_skos.py FILE.ttl`.

The rules are those that qSKOS and Skosify look for (Suominen and Mader, Journal on Data Semantics
2014), as far as they need no other vocabulary and no network, as patterns of SPARQL. ERRORS must
find nothing; what NOTES find is for a person to know. It exits with 1 if there are errors. It needs
rdflib.
"""

import sys
from functools import cache
from pathlib import Path

from rdflib import RDFS, Graph
from rdflib.namespace import SKOS
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.sparql import Query

LABEL = "(skos:prefLabel|skos:altLabel|skos:hiddenLabel)"
NOTE = "(skos:definition|skos:example|skos:note|skos:scopeNote|skos:editorialNote)"
RELATION = "(skos:broader|skos:narrower|skos:related)"
MAPPING = "(skos:exactMatch|skos:closeMatch|skos:broadMatch|skos:narrowMatch|skos:relatedMatch)"
SYMMETRIC = ("related", "exactMatch", "closeMatch", "relatedMatch")
INVERSES = [
    *(("broader", "narrower"), ("narrower", "broader")),
    *(("hasTopConcept", "topConceptOf"), ("topConceptOf", "hasTopConcept")),
    *zip(SYMMETRIC, SYMMETRIC, strict=True),
]
DEFINED = ", ".join(f"<{term}>" for term in dir(SKOS) if str(term).startswith(str(SKOS)))

ERRORS = {
    "omitted language tags": (
        f"?x {LABEL}|{NOTE}|rdfs:label ?text FILTER(lang(?text) = '' && isLiteral(?text))"
    ),
    "missing labels": """VALUES ?type { skos:Concept skos:ConceptScheme } ?x a ?type
        FILTER NOT EXISTS { ?x skos:prefLabel|rdfs:label ?label }""",
    "empty labels": f"?x {LABEL} ?label FILTER(regex(str(?label), '^ *$'))",
    "inconsistent preferred labels": """?x skos:prefLabel ?one, ?other
        FILTER(lang(?one) = lang(?other) && str(?one) < str(?other))""",
    "disjoint labels violation": """{ ?x skos:prefLabel ?y ; skos:altLabel|skos:hiddenLabel ?y }
        UNION { ?x skos:altLabel ?y ; skos:hiddenLabel ?y }""",
    "overlapping labels": f"""{{ SELECT ?x WHERE {{ ?y {LABEL} ?label
        BIND(lcase(str(?label)) AS ?x) }} GROUP BY ?x HAVING(count(DISTINCT ?y) > 1) }}""",
    "cyclic hierarchical relations": "?x skos:broader+ ?x",
    "hierarchical redundancy": "?x skos:broader ?y ; skos:broader/skos:broader+ ?y",
    "valueless associative relations": """?x skos:related ?y ;
        (skos:broader/^skos:broader)|(skos:narrower/^skos:narrower) ?y""",
    "relation clashes": "?x skos:related ?y ; skos:broader+|skos:narrower+ ?y",
    "mapping clashes": "?x skos:broadMatch|skos:relatedMatch ?y ; skos:exactMatch+ ?y",
    "mapping relations misuse": f"?x {MAPPING} ?y ; skos:inScheme ?z . ?y skos:inScheme ?z",
    "unidirectionally related concepts": " UNION ".join(
        f"{{ ?x skos:{one} ?y FILTER NOT EXISTS {{ ?y skos:{back} ?x }} }}"
        for one, back in INVERSES
    ),
    "reflexively related concepts": f"?x {RELATION}|{MAPPING} ?x",
    "solely transitively related concepts": """?x skos:broaderTransitive ?y
        FILTER NOT EXISTS { ?x skos:broader+ ?y }""",
    "omitted top concepts": """?x a skos:ConceptScheme
        FILTER NOT EXISTS { ?x skos:hasTopConcept ?y }""",
    "top concepts having broader concepts": "?z skos:hasTopConcept ?x . ?x skos:broader ?y",
    "undefined SKOS resources": f"""{{ ?y ?x ?z }} UNION {{ ?y a ?x }}
        FILTER(strstarts(str(?x), str(skos:)) && ?x NOT IN ({DEFINED}))""",
    "HTTP URI scheme violation": "?x a skos:Concept FILTER(!regex(str(?x), '^https?:'))",
}
NOTES = {
    "orphan concepts": f"?x a skos:Concept FILTER NOT EXISTS {{ ?x {RELATION} ?y }}",
    "undocumented concepts": f"?x a skos:Concept FILTER NOT EXISTS {{ ?x {NOTE} ?y }}",
}


@cache
def query(rule: str) -> Query:
    """The query of a rule."""
    pattern = (ERRORS | NOTES)[rule]
    return prepareQuery(f"SELECT DISTINCT ?x WHERE {{ {pattern} }}", {"skos": SKOS, "rdfs": RDFS})


def found(graph: Graph, rule: str) -> list[str]:
    """What a rule finds: concepts, labels or properties."""
    rows = graph.query(query(rule))
    return sorted(str(next(iter(row))) for row in rows)  # type: ignore[arg-type]


def main() -> None:
    """Print how much each rule finds, and the first three of it."""
    graph = Graph().parse(data=Path(sys.argv[1]).read_text(encoding="utf-8"), format="turtle")
    has_errors = False
    for rule in ERRORS | NOTES:
        names = found(graph, rule)
        has_errors |= bool(names) and rule in ERRORS
        kind = "" if rule in ERRORS else " (for information)"
        print(f"{len(names):5}  {rule}{kind}{': ' if names else ''}{', '.join(names[:3])}")
    sys.exit(has_errors)


if __name__ == "__main__":
    main()
