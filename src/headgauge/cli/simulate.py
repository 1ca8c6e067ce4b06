"""`headgauge simulate`: tokens as particles on the sphere, under six normalisation schemes."""

from headgauge.cli import documents, results
from headgauge.cli.output import part_bars, print_json, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import compile_kernels, default_folder, wait_for_kernels
from headgauge.options import keywords
from headgauge.options.commands import SimulateOptions


def run(asked: SimulateOptions) -> None:
    """Simulate attention dynamics under several normalisation schemes.

    Prints initial velocities and final rates, theory beside measured, and when the swarms collapse;
    leaves tables (Parquet), figures, an animation and a page with a slider through time in the
    folder. A simulation that was interrupted goes on when it is started again.
    """
    compile_kernels(asked, "simulate")
    # torch takes seconds: not for --help.
    from headgauge import simulation
    from headgauge.devices import check_device, chosen
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    settings = simulation.SimulationSettings(**keywords(asked))
    place = asked.out or default_folder("simulate", settings.as_dict())
    works_in(place)
    device = chosen(asked.device, double=True)
    check_device(device, double=True)
    for line in (f"device {device}", f"out    {place}"):
        notes.print(line, style="dim", soft_wrap=True)
    if device == "cpu":
        wait_for_kernels(notes)
    with part_bars(notes) as progress:
        found = simulation.run_settings(settings, place, device, progress)
    with notes.status("drawing"):
        drawn = draw(found, asked.plain)
    if asked.json_output:
        print_json(documents.simulation_document(found, drawn))
    else:
        results.show_simulation(found, drawn)
