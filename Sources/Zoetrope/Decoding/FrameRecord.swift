/// One scanned frame: its public description and what only the decoder needs.
package struct FrameRecord: Sendable, Hashable {
  package var control: FrameControl
  /// GIF: entries of the frame's own palette, 0 when it has none.
  package var localPaletteCount: Int = 0
  /// GIF: the palette index that leaves the canvas as it is; nil when there is none.
  package var transparentIndex: UInt8?

  package init(
    control: FrameControl, localPaletteCount: Int = 0, transparentIndex: UInt8? = nil
  ) {
    self.control = control
    self.localPaletteCount = localPaletteCount
    self.transparentIndex = transparentIndex
  }
}
