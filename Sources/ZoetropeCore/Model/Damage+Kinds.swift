extension Damage.Kind {
  /// The file ends before its end marker, between two frames.
  public static let missingTrailer = Damage.Kind("missingTrailer", isTolerated: true)
  /// Bytes follow the end marker; they are not read.
  public static let trailingData = Damage.Kind("trailingData", isTolerated: true)
  /// The file ends inside a frame's data.
  public static let cutFrame = Damage.Kind("cutFrame", isTolerated: false)
  /// The file ends inside a block or chunk that holds no pixels.
  public static let cutBlock = Damage.Kind("cutBlock", isTolerated: true)
  /// The file ends before all announced frames, or reading stops at a frame larger than any allowed
  /// canvas. The remaining frames are lost.
  public static let missingFrames = Damage.Kind("missingFrames", isTolerated: false)
  /// A pixel's index is past the end of the palette; the pixel becomes opaque black.
  public static let pixelIndex = Damage.Kind("pixelIndex", isTolerated: true)
  /// A byte where a block should start is not a block introducer. Reading stops there, as in browsers.
  package static let gifStrayByte = Damage.Kind("gif.strayByte", isTolerated: true)
  /// A side of the logical screen is 0, or the first frame is larger than the screen. The canvas grew to hold the
  /// frame.
  package static let gifCanvasGrown = Damage.Kind("gif.canvasGrown", isTolerated: true)
  /// The frame reaches past the canvas and is clipped.
  package static let gifFrameOutside = Damage.Kind("gif.frameOutside", isTolerated: true)
  /// The frame has no pixels; it is kept for its delay.
  package static let gifEmptyFrame = Damage.Kind("gif.emptyFrame", isTolerated: true)
  /// Neither the frame nor the file has a palette; all pixels become opaque black.
  package static let gifNoPalette = Damage.Kind("gif.noPalette", isTolerated: true)
  /// A graphic control extension is not 4 bytes long.
  package static let gifControlSize = Damage.Kind("gif.controlSize", isTolerated: true)
  /// A graphic control extension is followed by another one, or by no image.
  package static let gifControlUnused = Damage.Kind("gif.controlUnused", isTolerated: true)
  /// A disposal method of 4 to 7: 4 is read as *previous*, the others as *keep*.
  package static let gifReservedDisposal = Damage.Kind("gif.reservedDisposal", isTolerated: true)
  /// The transparent index is past the end of the palette; it has no effect unless a pixel uses it.
  package static let gifTransparentIndex = Damage.Kind("gif.transparentIndex", isTolerated: true)
  /// A loop block without a valid loop count.
  package static let gifLoopBlock = Damage.Kind("gif.loopBlock", isTolerated: true)
  /// A second loop count; the last one is used.
  package static let gifLoopTwice = Damage.Kind("gif.loopTwice", isTolerated: true)
  /// Text, comments or profiles exceeded the limits and were dropped.
  public static let metadataLimit = Damage.Kind("metadataLimit", isTolerated: true)
}

extension Damage.Kind {
  /// A GIF frame whose minimum code size is above 8; it has no pixels.
  package static let lzwBadMinimumCodeSize = Self("gif.lzw.badMinimumCodeSize", isTolerated: false)
  /// A GIF frame without compressed data; it has no pixels.
  package static let lzwNoData = Self("gif.lzw.noData", isTolerated: false)
  /// A GIF frame whose end code comes before its last pixel.
  package static let lzwEndCodeEarly = Self("gif.lzw.endCodeEarly", isTolerated: false)
  /// A GIF frame with a code that is not in the dictionary yet.
  package static let lzwInvalidCode = Self("gif.lzw.invalidCode", isTolerated: false)
  /// A GIF frame whose compressed data ends before its last pixel.
  package static let lzwTruncated = Self("gif.lzw.truncated", isTolerated: false)
  /// A GIF frame with compressed data after its last pixel; the excess is ignored.
  package static let lzwSurplus = Self("gif.lzw.surplus", isTolerated: true)
  /// A GIF frame that has all its pixels but no block terminator.
  package static let gifMissingTerminator = Self("gif.missingTerminator", isTolerated: true)
}

extension Damage.Kind {
  /// The animation chunks before the first frame are invalid, so the static image is shown.
  package static let pngStaticOnly = Damage.Kind(
    "png.staticOnly", isTolerated: true, isRefusedByStrict: true)
  /// acTL announces a different number of frames than the file has.
  package static let pngFrameCount = Damage.Kind("png.frameCount", isTolerated: true)
  /// A second acTL, or one after the image data; it is ignored.
  package static let pngAnimationControl = Damage.Kind("png.animationControl", isTolerated: true)
  /// A second fcTL before one frame's data; the last one is used.
  package static let pngFrameControlTwice = Damage.Kind("png.frameControlTwice", isTolerated: true)
  /// A frame control without data; the frame is dropped.
  package static let pngFrameWithoutData = Damage.Kind(
    "png.frameWithoutData", isTolerated: true, isRefusedByStrict: true)
  /// A frame's control or data is invalid; this frame and all later ones are lost.
  package static let pngFrameInvalid = Damage.Kind("png.frameInvalid", isTolerated: false)
  /// An unknown critical chunk; the frames after it are lost.
  package static let pngCriticalChunk = Damage.Kind("png.criticalChunk", isTolerated: false)
  /// An ancillary chunk with a wrong CRC or invalid data; it is ignored.
  package static let pngAncillaryChunk = Damage.Kind("png.ancillaryChunk", isTolerated: true)
  /// The palette chunk has a wrong CRC; its colours are used.
  package static let pngPaletteCRC = Damage.Kind("png.paletteCRC", isTolerated: false)
  /// Another chunk between the data chunks of one picture; the data is joined.
  package static let pngSplitData = Damage.Kind("png.splitData", isTolerated: true)
}

extension Damage.Kind {
  /// An fdAT chunk has a wrong CRC; its data is used anyway, as in browsers.
  package static let pngCRC = Damage.Kind("png.crc", isTolerated: true, isRefusedByStrict: true)
  /// An IDAT chunk has a wrong CRC; its data is used anyway, where Chromium drops the frame.
  package static let pngImageCRC = Damage.Kind("png.imageCRC", isTolerated: false)
  /// The checksum at the end of a frame's zlib stream is wrong; the pixels are used anyway.
  package static let pngAdler = Damage.Kind("png.adler", isTolerated: true)
  /// A frame has more data than its pixels need; the excess is ignored.
  package static let pngSurplus = Damage.Kind("png.surplus", isTolerated: true)
  /// A frame has all its pixels, but its zlib stream does not end properly.
  package static let pngStreamEnd = Damage.Kind("png.streamEnd", isTolerated: true)
  /// A frame's zlib stream is malformed; the rows before the error are kept.
  package static let pngStream = Damage.Kind("png.zlib", isTolerated: false)
  /// A frame's zlib stream ends before its last row; the rows decoded so far are kept.
  package static let pngShort = Damage.Kind("png.short", isTolerated: false)
  /// The file ends inside a frame's data; the rows decoded so far are kept.
  package static let pngTruncated = Damage.Kind("png.truncated", isTolerated: false)
  /// A row has an unknown filter type; the rows before it are kept.
  package static let pngFilter = Damage.Kind("png.filter", isTolerated: false)
}
