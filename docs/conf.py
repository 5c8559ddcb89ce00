"""Configuration of the site: `make docs` builds it, and warnings are errors."""

import sys
from importlib.metadata import version as find_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))

import reference  # noqa: E402  the script beside the other tools

project = "gradtape"
author = "the gradtape authors"
copyright = "the gradtape authors, Apache License 2.0"
release = version = find_version("gradtape")

extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "auto"
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "furo"
html_title = f"gradtape {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

reference.write_pages(HERE / "reference" / "api")
