extension Damage.Kind {
  /// The file ends before its end marker, between two frames.
  public static let missingTrailer = Damage.Kind("missingTrailer", isTolerated: true)
  /// Bytes follow the end marker; they are not read.
  public static let trailingData = Damage.Kind("trailingData", isTolerated: true)
  /// The file ends inside a frame's data.
  public static let cutFrame = Damage.Kind("cutFrame", isTolerated: false)
  /// The file ends inside a block or chunk that holds no pixels.
  public static let cutBlock = Damage.Kind("cutBlock", isTolerated: true)
  /// The file ends before frames that it announces, or is read no further because one of them is larger
  /// than any canvas may be; they are lost.
  public static let missingFrames = Damage.Kind("missingFrames", isTolerated: false)
  /// A pixel has an index past the palette; it is opaque black.
  public static let pixelIndex = Damage.Kind("pixelIndex", isTolerated: true)
  /// A byte that starts no block stands where one should; reading ends there, as in browsers.
  public static let gifStrayByte = Damage.Kind("gif.strayByte", isTolerated: true)
  /// The screen has a side of 0, or the first frame is larger; the canvas grew to hold it.
  public static let gifCanvasGrown = Damage.Kind("gif.canvasGrown", isTolerated: true)
  /// The frame reaches past the canvas and is clipped.
  public static let gifFrameOutside = Damage.Kind("gif.frameOutside", isTolerated: true)
  /// The frame has no pixels; it is kept for its delay.
  public static let gifEmptyFrame = Damage.Kind("gif.emptyFrame", isTolerated: true)
  /// Neither the frame nor the file has a palette; all indices are opaque black.
  public static let gifNoPalette = Damage.Kind("gif.noPalette", isTolerated: true)
  /// A graphic control extension is not 4 bytes long.
  public static let gifControlSize = Damage.Kind("gif.controlSize", isTolerated: true)
  /// A graphic control extension describes no image, or is followed by another one.
  public static let gifControlUnused = Damage.Kind("gif.controlUnused", isTolerated: true)
  /// A disposal method of 4 to 7: 4 is read as *previous*, the others as *keep*.
  public static let gifReservedDisposal = Damage.Kind("gif.reservedDisposal", isTolerated: true)
  /// The transparent index lies past the palette; it has no effect unless a pixel has it.
  public static let gifTransparentIndex = Damage.Kind("gif.transparentIndex", isTolerated: true)
  /// A loop block whose data is no loop count.
  public static let gifLoopBlock = Damage.Kind("gif.loopBlock", isTolerated: true)
  /// A second loop count; the last one counts.
  public static let gifLoopTwice = Damage.Kind("gif.loopTwice", isTolerated: true)
  /// Text, comments or profiles past the limits were not kept.
  public static let metadataLimit = Damage.Kind("metadataLimit", isTolerated: true)
}
