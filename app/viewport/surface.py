"""Widget in which VTK draws with OpenGL, in a context that belongs to Qt.

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


def request_opengl_format() -> None:
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
"""Hidden context in which the OpenGL capabilities were queried, until the first surface takes it over."""


@cache
def supported_quality() -> Quality:
    """Return the rendering quality that OpenGL supports on this computer. It is queried once, in a hidden context that
    the first surface takes over."""
    from viz.scene.quality import quality_of_renderer

    hidden = _HiddenContext()
    if not hidden.make_current():
        return "fine"
    quality = quality_of_renderer(hidden.renderer_name)
    hidden.context.doneCurrent()
    if quality == "plain":
        _asked.append(hidden)
    return quality


class OpenGLSurface(QWidget):
    """Widget that holds VTK's render window `vtk`; `ready` is True while there is an OpenGL context. Subclasses
    implement `draw`."""

    drawn = Signal()
    """Emitted when a new picture is on the screen, or will be once Qt is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        from vtkmodules.vtkRenderingOpenGL2 import vtkGenericOpenGLRenderWindow  # the frame before is seen without it

        self.vtk = vtkGenericOpenGLRenderWindow()
        self.ready = False
        self.canvas: _CanvasProtocol = _PaintedCanvas(self) if supported_quality() == "plain" else _ComposedCanvas(self)
        self.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def is_hardware_composed(self) -> bool:
        """True if the graphics hardware composes the picture into the window, so that overlays are not repainted with
        it."""
        return isinstance(self.canvas, _ComposedCanvas)

    def draw(self) -> None:
        """Draw a picture with VTK in the current context."""
        raise NotImplementedError

    def update(self) -> None:
        """Request a new picture."""
        self.canvas.request_picture()

    def repaint(self) -> None:
        """Draw a new picture now, if the surface is visible."""
        self.canvas.request_picture()
        self.canvas.repaint()

    def grab_picture(self) -> QImage:
        """Return a newly drawn picture, as it would appear on the screen."""
        return self.canvas.grab_picture()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the picture to the surface."""
        super().resizeEvent(event)
        self.canvas.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """Free VTK's resources before the surface is deleted."""
        if event.type() == QEvent.Type.DeferredDelete:
            self.free_resources()
        return super().event(event)

    def make_current(self) -> None:
        """Make this surface's OpenGL context the current one."""
        self.canvas.make_current()

    def done_current(self) -> None:
        """Release this surface's OpenGL context."""
        self.canvas.done_current()

    @property
    def size_in_pixels(self) -> tuple[int, int]:
        """Width and height in device pixels."""
        ratio = self.devicePixelRatioF()
        return round(self.width() * ratio), round(self.height() * ratio)

    def begin_drawing(self) -> None:
        """Prepare VTK for drawing, once there is a current context."""
        self.vtk.SetReadyForRendering(True)
        self.vtk.SetMapped(True)
        self.vtk.SetOwnContext(False)
        self.vtk.OpenGLInitContext()
        self.vtk.OpenGLInit()
        self.vtk.SetIsCurrent(True)
        self.vtk.AddObserver(MAKE_CURRENT, self._on_make_current)
        self.ready = True

    def fill_with_color(self, color: tuple[float, float, float]) -> None:
        """Fill the surface with a colour instead of a picture."""
        self.canvas.fill_with_color(color)

    def _on_make_current(self, *_: object) -> None:
        """Make this context current before VTK draws or frees memory. That can happen at any time, and VTK must never
        act in the context of another window."""
        if not self.canvas.is_current():
            self.canvas.make_current()

    def free_resources(self) -> None:
        """Free VTK's resources before the context is destroyed."""
        if self.ready:
            self.ready = False
            self.make_current()
            self.vtk.Finalize()
            self.vtk.RemoveObservers(MAKE_CURRENT)
            self.canvas.done_current()


class _CanvasProtocol(Protocol):
    """Interface of the widget that displays a surface's picture: it fills the surface, below all overlays."""

    def request_picture(self) -> None: ...
    def repaint(self) -> None: ...
    def grab_picture(self) -> QImage: ...
    def fill_with_color(self, color: tuple[float, float, float]) -> None: ...
    def make_current(self) -> None: ...
    def done_current(self) -> None: ...
    def is_current(self) -> bool: ...
    def setGeometry(self, place: QRect) -> None: ...
    def setAttribute(self, attribute: Qt.WidgetAttribute) -> None: ...


class _ComposedCanvas(QOpenGLWidget):
    """Canvas in which VTK draws into a Qt texture, from which Qt composes the window with OpenGL."""

    def __init__(self, surface: OpenGLSurface) -> None:
        super().__init__(surface)
        self._surface = surface
        surface.vtk.SetFrameBlitModeToBlitToCurrent()
        self.frameSwapped.connect(surface.drawn)

    def initializeGL(self) -> None:
        """Hand Qt's OpenGL context to VTK."""
        self._surface.begin_drawing()
        self.context().aboutToBeDestroyed.connect(self._surface.free_resources)

    def paintGL(self) -> None:
        """Draw into Qt's framebuffer, starting from an OpenGL state that VTK expects."""
        if self._surface.ready:
            self._surface.vtk.OpenGLInitState()
            self._surface.draw()

    def request_picture(self) -> None:
        """Request a new picture."""
        self.update()

    def grab_picture(self) -> QImage:
        """Return a new picture."""
        return self.grabFramebuffer()

    def fill_with_color(self, color: tuple[float, float, float]) -> None:
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

    def destroy_with(self, owner: QWidget) -> None:
        """Destroy the context together with a widget."""
        self.context.setParent(owner)
        self.place.setParent(owner)

    def make_current(self) -> bool:
        """Make this context current; returns False if there is no OpenGL."""
        return self.works and self.context.makeCurrent(self.place)

    @property
    def renderer_name(self) -> str:
        """Return the name of the renderer, when the context is current."""
        return str(self.context.functions().glGetString(RENDERER) or "")


class _PaintedCanvas(QWidget):
    """Canvas in which VTK draws off-screen; the picture is cached and painted with the window."""

    def __init__(self, surface: OpenGLSurface) -> None:
        super().__init__(surface)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._surface = surface
        self._hidden = _asked.pop() if _asked else _HiddenContext()
        self._hidden.destroy_with(self)
        self._hidden.context.aboutToBeDestroyed.connect(surface.free_resources)
        self._stale, self._drawing = True, False
        self._kept = QImage()
        surface.vtk.SetFrameBlitModeToNoBlit()

    def request_picture(self) -> None:
        """Request a new picture."""
        self._stale = True
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Discard the cached picture, which no longer fits."""
        self._stale = True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cached picture, after drawing a new one if requested."""
        new = self._stale
        if new:
            self._draw_picture()
        painter = QPainter(self)
        painter.setRenderHint(
            QPainter.RenderHint.SmoothPixmapTransform, self._kept.width() != self._surface.size_in_pixels[0]
        )
        painter.drawImage(self.rect(), self._kept)
        painter.end()
        if new:
            self._surface.drawn.emit()

    def _draw_picture(self) -> None:
        from viz.pictures.picture_files import read_pixels

        self.make_current()
        self._drawing = True
        try:
            if not self._surface.ready:
                self._surface.begin_drawing()
            self._stale = False
            self._surface.draw()
            if not self._surface.vtk.GetNeverRendered():
                self._kept = image_from_pixels(read_pixels(self._surface.vtk))
        finally:
            self._drawing = False
            self.done_current()

    def grab_picture(self) -> QImage:
        """Return a new picture."""
        self._draw_picture()
        return self._kept.copy()

    def fill_with_color(self, color: tuple[float, float, float]) -> None:
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
        """Return True if this context is certainly current; other VTK windows make theirs current without notifying
        Qt."""
        return self._drawing and QOpenGLContext.currentContext() is self._hidden.context


def image_from_pixels(picture: Pixels) -> QImage:
    """Convert a picture (height, width, 4) to an opaque Qt image."""
    height, width = picture.shape[:2]
    return QImage(picture.data, width, height, 4 * width, QImage.Format.Format_RGBX8888).copy()
