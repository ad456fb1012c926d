extension SharedFrames {
  /// Returns a rectangle that contains all differences between the bitmaps of the frames `previous` and `index`. If
  /// there is no previous frame, returns the rectangle of the whole bitmap.
  ///
  /// A frame's bitmap does not depend on the order in which frames are played. The two bitmaps can therefore differ
  /// only where the frames from the earlier one to the later one cleared or drew something.
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
