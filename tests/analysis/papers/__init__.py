"""What the papers' printed numbers should be by the papers' own formulas: numbers as ranges, one module a paper."""

from papers import czechowski2012, eleftheriou2005, gupta1993, lee2018

# "<paper>/<item>": the claims about its numbers.
FORMULAS = {
    f"{module.__name__.rpartition('.')[2]}/{item}": claims
    for module in (czechowski2012, eleftheriou2005, gupta1993, lee2018)
    for item, claims in module.FORMULAS.items()
}
