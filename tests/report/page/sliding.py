"""The slider through time, and what follows it, as a reader sees them."""


def slide(reader, place):
    """The slider to a place among its times, as a hand would put it."""
    reader.run(
        "const it = document.getElementById('time'); it.value = arguments[0];"
        "it.dispatchEvent(new Event('input'))",
        place,
    )
    reader.settle()


def readout(reader):
    """The rows by scheme, as they are read."""
    rows = reader.run(
        "return [...document.querySelectorAll('#readout tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent.replace(' %', '')))"
    )
    return {row[0]: row[1:] for row in rows}


def sphere(reader, scheme):
    """Of a sphere its time, its turn, and where its particles are on the screen, in any order."""
    return reader.run(
        "const it = document.querySelector(`.sphere[data-name='${arguments[0]}']`);"
        "const dots = [...it.querySelectorAll('.particle')];"
        "return [it.dataset.time, it.dataset.turn,"
        " dots.map(e => [+e.getAttribute('cx'), +e.getAttribute('cy')]).sort(),"
        " dots.filter(e => e.closest('.behind')).length]",
        scheme,
    )


def position(reader):
    return float(reader.run("return document.getElementById('time').value"))
