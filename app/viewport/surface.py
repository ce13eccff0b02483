"""A widget into which VTK draws by OpenGL, in a context of Qt.

Graphics hardware keeps the picture and composes the window (`_ComposedCanvas`). With software OpenGL that would cost as
much again as drawing: there the picture is fetched and painted like any other (`_PaintedCanvas`).
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
    from viz.pictures.picture_files import Pixels
    from viz.scene.quality import Quality

MAKE_CURRENT = "WindowMakeCurrentEvent"
RENDERER = 0x1F01
"""OpenGL's constant for the name of the renderer (GL_RENDERER)."""
COLOR_BUFFER = 0x4000
"""OpenGL's bit for the colour buffer."""


def prepare_surface() -> None:
    """Request OpenGL 3.2 core. Must be called before the QApplication is created."""
    wanted = QSurfaceFormat()
    wanted.setRenderableType(QSurfaceFormat.RenderableType.OpenGL)
    wanted.setVersion(3, 2)
    wanted.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    wanted.setDepthBufferSize(24)
    wanted.setStencilBufferSize(8)
    wanted.setAlphaBufferSize(8)
    wanted.setSwapInterval(1)
    QSurfaceFormat.setDefaultFormat(wanted)


_asked: list[_HiddenContext] = []
"""The context in which the OpenGL capabilities were queried, until a surface takes it."""


@cache
def carried() -> Quality:
    """Return the rendering quality that OpenGL supports here: queried once, in a hidden context that the first surface
    takes over."""
    from viz.scene.quality import quality_of_renderer

    hidden = _HiddenContext()
    if not hidden.make_current():
        return "fine"
    quality = quality_of_renderer(hidden.renderer)
    hidden.context.doneCurrent()
    if quality == "plain":
        _asked.append(hidden)
    return quality


class Surface(QWidget):
    """Holds VTK's render window `vtk`; `ready` is True while there is an OpenGL context. Subclasses implement
    `draw`."""

    drawn = Signal()
    """Emitted when a new picture is on the screen, or will be once Qt is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        from vtkmodules.vtkRenderingOpenGL2 import vtkGenericOpenGLRenderWindow  # the frame before is seen without it

        self.vtk = vtkGenericOpenGLRenderWindow()
        self.ready = False
        self.canvas: _CanvasProtocol = _PaintedCanvas(self) if carried() == "plain" else _ComposedCanvas(self)
        self.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def composed(self) -> bool:
        """True if graphics hardware composes the picture into the window, so that overlays are not repainted
        with it."""
        return isinstance(self.canvas, _ComposedCanvas)

    def draw(self) -> None:
        """Draw a picture with VTK in the current context."""
        raise NotImplementedError

    def update(self) -> None:
        """Request a new picture."""
        self.canvas.renew()

    def repaint(self) -> None:
        """Draw a new picture now, if the surface is visible."""
        self.canvas.renew()
        self.canvas.repaint()

    def grab_picture(self) -> QImage:
        """Return a new picture, as it would appear on the screen."""
        return self.canvas.grab_picture()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the picture to the surface."""
        super().resizeEvent(event)
        self.canvas.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """Free VTK's resources before the surface is deleted."""
        if event.type() == QEvent.Type.DeferredDelete:
            self.free()
        return super().event(event)

    def make_current(self) -> None:
        """Make this surface's OpenGL context the current one."""
        self.canvas.make_current()

    def done_current(self) -> None:
        """Release this surface's OpenGL context."""
        self.canvas.done_current()

    @property
    def pixels(self) -> tuple[int, int]:
        """The size in device pixels."""
        ratio = self.devicePixelRatioF()
        return round(self.width() * ratio), round(self.height() * ratio)

    def begin(self) -> None:
        """Prepare VTK to draw, once there is a current context."""
        self.vtk.SetReadyForRendering(True)
        self.vtk.SetMapped(True)
        self.vtk.SetOwnContext(False)
        self.vtk.OpenGLInitContext()
        self.vtk.OpenGLInit()
        self.vtk.SetIsCurrent(True)
        self.vtk.AddObserver(MAKE_CURRENT, self._make_current)
        self.ready = True

    def clear(self, color: tuple[float, float, float]) -> None:
        """Fill the surface with a colour instead of a picture."""
        self.canvas.clear(color)

    def _make_current(self, *_: object) -> None:
        """Make this context current before VTK draws or frees memory, which may happen at any moment, so that it never
        acts in the context of another window."""
        if not self.canvas.is_current():
            self.canvas.make_current()

    def free(self) -> None:
        """Free VTK's resources before the context is destroyed."""
        if self.ready:
            self.ready = False
            self.make_current()
            self.vtk.Finalize()
            self.vtk.RemoveObservers(MAKE_CURRENT)
            self.canvas.done_current()


class _CanvasProtocol(Protocol):
    """The widget that displays a surface's picture: it fills the surface, below all overlays."""

    def renew(self) -> None: ...
    def repaint(self) -> None: ...
    def grab_picture(self) -> QImage: ...
    def clear(self, color: tuple[float, float, float]) -> None: ...
    def make_current(self) -> None: ...
    def done_current(self) -> None: ...
    def is_current(self) -> bool: ...
    def setGeometry(self, place: QRect) -> None: ...
    def setAttribute(self, attribute: Qt.WidgetAttribute) -> None: ...


class _ComposedCanvas(QOpenGLWidget):
    """Canvas in which VTK draws into a texture of Qt, from which Qt composes the window by OpenGL."""

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
        """Draw into Qt's framebuffer, starting from an OpenGL state that VTK expects."""
        if self._surface.ready:
            self._surface.vtk.OpenGLInitState()
            self._surface.draw()

    def renew(self) -> None:
        """Request a new picture."""
        self.update()

    def grab_picture(self) -> QImage:
        """Return a new picture."""
        return self.grabFramebuffer()

    def clear(self, color: tuple[float, float, float]) -> None:
        """Fill the canvas with a colour."""
        functions = self.context().functions()
        functions.glClearColor(*color, 1.0)
        functions.glClear(COLOR_BUFFER)

    def make_current(self) -> None:
        """Make this context current."""
        self.makeCurrent()

    def done_current(self) -> None:
        """Release this context."""
        self.doneCurrent()

    def is_current(self) -> bool:
        """Return True if this context is current."""
        return QOpenGLContext.currentContext() is self.context()


class _HiddenContext:
    """An OpenGL context without a window."""

    def __init__(self) -> None:
        self.context = QOpenGLContext()
        self.place = QOffscreenSurface()
        self.place.setFormat(self.context.format())
        self.place.create()
        self.works = self.context.create()

    def belong_to(self, owner: QWidget) -> None:
        """Destroy the context together with a widget."""
        self.context.setParent(owner)
        self.place.setParent(owner)

    def make_current(self) -> bool:
        """Make this context current; returns False if there is no OpenGL."""
        return self.works and self.context.makeCurrent(self.place)

    @property
    def renderer(self) -> str:
        """Return the name of the renderer, when the context is current."""
        return str(self.context.functions().glGetString(RENDERER) or "")


class _PaintedCanvas(QWidget):
    """Canvas in which VTK draws off-screen; the picture is cached and painted when the window is."""

    def __init__(self, surface: Surface) -> None:
        super().__init__(surface)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._surface = surface
        self._hidden = _asked.pop() if _asked else _HiddenContext()
        self._hidden.belong_to(self)
        self._hidden.context.aboutToBeDestroyed.connect(surface.free)
        self._stale, self._drawing = True, False
        self._kept = QImage()
        surface.vtk.SetFrameBlitModeToNoBlit()

    def renew(self) -> None:
        """Request a new picture."""
        self._stale = True
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop the picture, which no longer fits."""
        self._stale = True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, after drawing a new one if requested."""
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
        from viz.pictures.picture_files import pixels

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
        """Return a new picture."""
        self._draw()
        return self._kept.copy()

    def clear(self, color: tuple[float, float, float]) -> None:
        """Show a colour until the first picture."""
        self._kept = QImage(1, 1, QImage.Format.Format_RGB32)
        self._kept.fill(QColor.fromRgbF(*color))

    def make_current(self) -> None:
        """Make this context current."""
        self._hidden.make_current()

    def done_current(self) -> None:
        """Release this context."""
        self._hidden.context.doneCurrent()

    def is_current(self) -> bool:
        """Return True if this context is certainly current: other VTK windows make theirs current without
        telling Qt."""
        return self._drawing and QOpenGLContext.currentContext() is self._hidden.context


def as_image(picture: Pixels) -> QImage:
    """Return a picture (height, width, 4) as an opaque Qt image."""
    height, width = picture.shape[:2]
    return QImage(picture.data, width, height, 4 * width, QImage.Format.Format_RGBX8888).copy()
