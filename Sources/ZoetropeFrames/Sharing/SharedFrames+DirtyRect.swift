extension SharedFrames {
  /// Returns a rectangle that contains all differences between the bitmap of the frame `previous` and `frame`, which is
  /// the decoded frame `index`. If there is no previous frame, returns the rectangle of the whole bitmap.
  package func changes(
    from previous: Int?, to index: Int, decoded frame: CompositedFrame
  ) -> PixelRect {
    let structural = dirtyRect(from: previous, to: index)
    // Both rectangles contain every change. The rectangle of the decoded frame is tighter, but it is relative to the
    // frame with the preceding index.
    guard let previous, previous + 1 == index else { return structural }
    return structural.intersection(frame.dirtyRect)
  }

  /// Returns a rectangle that contains all differences between the bitmaps of the frames `previous` and `index`. If
  /// there is no previous frame, returns the rectangle of the whole bitmap.
  ///
  /// A frame's bitmap does not depend on the order in which frames are played. The two bitmaps can therefore differ
  /// only where the frames from the earlier one to the later one cleared or drew something.
  private func dirtyRect(from previous: Int?, to index: Int) -> PixelRect {
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
