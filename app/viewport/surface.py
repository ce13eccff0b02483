"""A widget whose picture VTK draws with OpenGL, in the context that Qt made for it."""

from __future__ import annotations

from PySide6.QtGui import QOpenGLContext, QSurfaceFormat
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

MAKE_CURRENT = "WindowMakeCurrentEvent"
COLOR_BUFFER = 0x4000
"""OpenGL's bit for the colours of a picture."""


def prepare_surface() -> None:
    """Ask for OpenGL 3.2 core. Must be called before the QApplication is made."""
    wanted = QSurfaceFormat()
    wanted.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    wanted.setVersion(3, 2)
    wanted.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    wanted.setDepthBufferSize(24)
    wanted.setStencilBufferSize(8)
    wanted.setAlphaBufferSize(8)
    wanted.setSwapInterval(1)
    QSurfaceFormat.setDefaultFormat(wanted)


class Surface(QOpenGLWidget):
    """Holds VTK's window `vtk`; `ready` from the moment there is a context until it goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        from vtkmodules.vtkRenderingOpenGL2 import vtkGenericOpenGLRenderWindow  # the frame before is seen without it

        self.vtk = vtkGenericOpenGLRenderWindow()
        self.vtk.SetFrameBlitModeToBlitToCurrent()
        self.ready = False

    def initializeGL(self) -> None:
        """Hand Qt's context to VTK."""
        self.vtk.SetReadyForRendering(True)
        self.vtk.SetMapped(True)
        self.vtk.SetOwnContext(False)
        self.vtk.OpenGLInitContext()
        self.vtk.OpenGLInit()
        self.vtk.SetIsCurrent(True)
        self.vtk.AddObserver(MAKE_CURRENT, self._make_current)
        self.ready = True
        self.context().aboutToBeDestroyed.connect(self.free)

    def prepare(self) -> None:
        """Before each picture, in paintGL: its size in pixels, and a state of OpenGL that VTK knows."""
        ratio = self.devicePixelRatioF()
        size = round(self.width() * ratio), round(self.height() * ratio)
        if self.vtk.GetSize() != size:
            self.vtk.SetSize(*size)
        self.vtk.OpenGLInitState()

    def clear(self, color: tuple[float, float, float]) -> None:
        """In paintGL: nothing but a colour."""
        functions = self.context().functions()
        functions.glClearColor(*color, 1.0)
        functions.glClear(COLOR_BUFFER)

    def _make_current(self, *_: object) -> None:
        """VTK draws or frees memory, at any moment: never in the context of another window, whose own it would take."""
        if QOpenGLContext.currentContext() is not self.context():
            self.makeCurrent()

    def free(self) -> None:
        """The context goes: free what VTK holds in it."""
        if self.ready:
            self.ready = False
            self.makeCurrent()
            self.vtk.Finalize()
            self.vtk.RemoveObservers(MAKE_CURRENT)
            self.doneCurrent()
