/// Where a frame's colours come from.
public enum PaletteUse: UInt8, Sendable, Hashable {
  /// The pixels hold colours; there is no palette.
  case none
  /// The palette of the whole file.
  case global
  /// A palette of the frame's own.
  case local
}
