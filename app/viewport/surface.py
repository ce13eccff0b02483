"""A widget whose picture VTK draws with OpenGL, in a context of Qt's.

Graphics hardware keeps the picture and puts the window together (`_Composed`). Where the processor plays OpenGL, that
would cost as much again as drawing: there the picture is fetched and painted as any other (`_Painted`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QOffscreenSurface,
    QOpenGLContext,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSurfaceFormat,
)
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from viz.pictures.pixels import Pixels
    from viz.scene.quality import Quality

MAKE_CURRENT = "WindowMakeCurrentEvent"
RENDERER = 0x1F01
"""OpenGL's number of the question who draws (GL_RENDERER)."""
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


_asked: list[_Hidden] = []
"""The context in which was asked what OpenGL can carry, until a surface takes it."""


@cache
def carried() -> Quality:
    """What OpenGL can carry here: asked once, in a context nobody sees, which the first surface takes."""
    from viz.scene.quality import quality_for

    hidden = _Hidden()
    if not hidden.make_current():
        return "fine"
    quality = quality_for(hidden.renderer)
    hidden.context.doneCurrent()
    if quality == "plain":
        _asked.append(hidden)
    return quality


class Surface(QWidget):
    """Holds VTK's window `vtk`; `ready` from the moment there is a context until it goes. What draws says `draw`."""

    drawn = Signal()
    """A new picture is on the screen, or will be when Qt is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        from vtkmodules.vtkRenderingOpenGL2 import vtkGenericOpenGLRenderWindow  # the frame before is seen without it

        self.vtk = vtkGenericOpenGLRenderWindow()
        self.ready = False
        self.canvas: _Canvas = _Painted(self) if carried() == "plain" else _Composed(self)
        self.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def composed(self) -> bool:
        """Whether graphics hardware puts the picture into the window; what floats over it is not painted with it."""
        return isinstance(self.canvas, _Composed)

    def draw(self) -> None:
        """Draw a picture with VTK, in the context that is current."""
        raise NotImplementedError

    def update(self) -> None:  # type: ignore[override]
        """Draw a new picture soon."""
        self.canvas.renew()

    def repaint(self) -> None:  # type: ignore[override]
        """Draw a new picture now, if the surface is seen."""
        self.canvas.renew()
        self.canvas.repaint()

    def grab_picture(self) -> QImage:
        """A new picture, as it would be seen."""
        return self.canvas.grab_picture()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The picture fills the surface."""
        super().resizeEvent(event)
        self.canvas.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """Before it is deleted, what VTK holds is freed."""
        if event.type() == QEvent.Type.DeferredDelete:
            self.free()
        return super().event(event)

    def make_current(self) -> None:
        """Let what follows concern the context of this surface."""
        self.canvas.make_current()

    def done_current(self) -> None:
        """Leave it again."""
        self.canvas.done_current()

    @property
    def pixels(self) -> tuple[int, int]:
        """Its size in device pixels."""
        ratio = self.devicePixelRatioF()
        return round(self.width() * ratio), round(self.height() * ratio)

    def begin(self) -> None:
        """There is a context, and it is current: VTK may draw in it."""
        self.vtk.SetReadyForRendering(True)
        self.vtk.SetMapped(True)
        self.vtk.SetOwnContext(False)
        self.vtk.OpenGLInitContext()
        self.vtk.OpenGLInit()
        self.vtk.SetIsCurrent(True)
        self.vtk.AddObserver(MAKE_CURRENT, self._make_current)
        self.ready = True

    def clear(self, color: tuple[float, float, float]) -> None:
        """Instead of drawing: nothing but a colour."""
        self.canvas.clear(color)

    def _make_current(self, *_: object) -> None:
        """VTK draws or frees memory, at any moment: never in the context of another window, whose own it would take."""
        if not self.canvas.is_current():
            self.canvas.make_current()

    def free(self) -> None:
        """The context goes: free what VTK holds in it."""
        if self.ready:
            self.ready = False
            self.make_current()
            self.vtk.Finalize()
            self.vtk.RemoveObservers(MAKE_CURRENT)
            self.canvas.done_current()


class _Canvas(Protocol):
    """What a surface's picture is seen on: a widget that fills it, below all that floats over it."""

    def renew(self) -> None: ...
    def repaint(self) -> None: ...
    def grab_picture(self) -> QImage: ...
    def clear(self, color: tuple[float, float, float]) -> None: ...
    def make_current(self) -> None: ...
    def done_current(self) -> None: ...
    def is_current(self) -> bool: ...
    def setGeometry(self, place: QRect) -> None: ...
    def setAttribute(self, attribute: Qt.WidgetAttribute) -> None: ...


class _Composed(QOpenGLWidget):
    """VTK draws into a texture of Qt's, from which Qt puts the window together with OpenGL."""

    def __init__(self, surface: Surface) -> None:
        super().__init__(surface)
        self._surface = surface
        surface.vtk.SetFrameBlitModeToBlitToCurrent()
        self.frameSwapped.connect(surface.drawn)

    def initializeGL(self) -> None:
        """Hand Qt's context to VTK."""
        self._surface.begin()
        self.context().aboutToBeDestroyed.connect(self._surface.free)

    def paintGL(self) -> None:
        """Draw into Qt's framebuffer, from a state of OpenGL that VTK knows."""
        if self._surface.ready:
            self._surface.vtk.OpenGLInitState()
            self._surface.draw()

    def renew(self) -> None:
        """Draw a new picture soon."""
        self.update()

    def grab_picture(self) -> QImage:
        """A new picture."""
        return self.grabFramebuffer()

    def clear(self, color: tuple[float, float, float]) -> None:
        """Nothing but a colour."""
        functions = self.context().functions()
        functions.glClearColor(*color, 1.0)
        functions.glClear(COLOR_BUFFER)

    def make_current(self) -> None:
        """Take this context."""
        self.makeCurrent()

    def done_current(self) -> None:
        """Leave it."""
        self.doneCurrent()

    def is_current(self) -> bool:
        """Whether this context is taken."""
        return QOpenGLContext.currentContext() is self.context()


class _Hidden:
    """A context of OpenGL without a window."""

    def __init__(self) -> None:
        self.context = QOpenGLContext()
        self.place = QOffscreenSurface()
        self.place.setFormat(self.context.format())
        self.place.create()
        self.works = self.context.create()

    def belong_to(self, owner: QWidget) -> None:
        """Go with a widget."""
        self.context.setParent(owner)
        self.place.setParent(owner)

    def make_current(self) -> bool:
        """Take this context; False where there is no OpenGL."""
        return self.works and self.context.makeCurrent(self.place)

    @property
    def renderer(self) -> str:
        """The name of what draws in it, when it is current."""
        return str(self.context.functions().glGetString(RENDERER) or "")


class _Painted(QWidget):
    """VTK draws without a window; its picture is kept, and painted wherever the window must be."""

    def __init__(self, surface: Surface) -> None:
        super().__init__(surface)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._surface = surface
        self._hidden = _asked.pop() if _asked else _Hidden()
        self._hidden.belong_to(self)
        self._hidden.context.aboutToBeDestroyed.connect(surface.free)
        self._stale, self._drawing = True, False
        self._kept = QImage()
        surface.vtk.SetFrameBlitModeToNoBlit()

    def renew(self) -> None:
        """Draw a new picture soon."""
        self._stale = True
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The picture no longer fits."""
        self._stale = True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, a new one if it was asked for."""
        new = self._stale
        if new:
            self._draw()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._kept.width() != self._surface.pixels[0])
        painter.drawImage(self.rect(), self._kept)
        painter.end()
        if new:
            self._surface.drawn.emit()

    def _draw(self) -> None:
        from viz.pictures.pixels import pixels

        self.make_current()
        self._drawing = True
        try:
            if not self._surface.ready:
                self._surface.begin()
            self._stale = False
            self._surface.draw()
            if not self._surface.vtk.GetNeverRendered():
                self._kept = as_image(pixels(self._surface.vtk))
        finally:
            self._drawing = False
            self.done_current()

    def grab_picture(self) -> QImage:
        """A new picture."""
        self._draw()
        return self._kept.copy()

    def clear(self, color: tuple[float, float, float]) -> None:
        """Nothing but a colour, until the first picture."""
        self._kept = QImage(1, 1, QImage.Format.Format_RGB32)
        self._kept.fill(QColor.fromRgbF(*color))

    def make_current(self) -> None:
        """Take this context."""
        self._hidden.make_current()

    def done_current(self) -> None:
        """Leave it."""
        self._hidden.context.doneCurrent()

    def is_current(self) -> bool:
        """Whether this context is taken, for sure: other windows of VTK take theirs without telling Qt."""
        return self._drawing and QOpenGLContext.currentContext() is self._hidden.context


def as_image(picture: Pixels) -> QImage:
    """A picture (height, width, 4) as an image of Qt's that needs no background."""
    height, width = picture.shape[:2]
    return QImage(picture.data, width, height, 4 * width, QImage.Format.Format_RGBX8888).copy()
