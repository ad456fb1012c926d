extension SharedFrames {
  /// Returns the area in which the bitmaps of two frames may differ; the whole canvas if there is no previous frame.
  ///
  /// A frame's bitmap is the same in whatever order frames are played, so the two can differ only where the frames from
  /// one to the other cleared or drew something.
  package func dirtyRect(from previous: Int?, to index: Int) -> PixelRect {
    guard let previous else { return PixelRect(frameSize) }
    let canvas = PixelRect(sourceSize)
    var dirty = PixelRect.empty
    for frame in min(previous, index)..<max(previous, index) where dirty != canvas {
      dirty = dirty.union(list[frame + 1].rect.intersection(canvas))
      let control = list[frame]
      if control.disposal != .keep { dirty = dirty.union(control.rect.intersection(canvas)) }
    }
    return scaler?.touched(by: dirty) ?? dirty
  }
}
