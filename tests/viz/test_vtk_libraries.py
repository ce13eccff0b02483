"""VTK's libraries are found by one look into their folder, the same as VTK finds by itself."""

import subprocess
import sys

import vtkmodules

from viz.system_libraries import find_library

ITSELF = """
import sys
import vtkmodules
print(*(vtkmodules.find_lib_path(vtkmodules.__path__, name) for name in sys.argv[1:]), sep="\\n")
"""
NAMES = ["vtkCommonCore", "vtkIOXML", "vtkIOXMLParser", "vtkRenderingOpenGL2", "vtkNothing"]


def test_each_library_is_found_where_vtk_finds_it():
    done = subprocess.run([sys.executable, "-c", ITSELF, *NAMES], capture_output=True, text=True, check=True)
    assert [str(find_library(vtkmodules.__path__, name)) for name in NAMES] == done.stdout.split()
    assert vtkmodules.find_lib_path is find_library


def test_names_that_begin_alike_and_other_files_are_not_taken(tmp_path):
    for name in ("vtkIOXMLParser.so", "vtkIOXML.pyi", "vtkIO-9.so", "vtkIOXMLmore.so"):
        (tmp_path / name).touch()
    assert find_library([str(tmp_path)], "vtkIOXML") is None
    assert find_library([str(tmp_path)], "vtkIOXMLParser") == str(tmp_path / "vtkIOXMLParser.so")
    assert find_library([str(tmp_path)], "vtkIO") == str(tmp_path / "vtkIO-9.so")
