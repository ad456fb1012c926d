extension Damage.Kind {
  /// The file ends without its end marker, at a place where another block or chunk could begin.
  public static let missingTrailer = Damage.Kind("missingTrailer", isTolerated: true)
  /// Bytes follow the end marker. They are not read.
  public static let trailingData = Damage.Kind("trailingData", isTolerated: true)
  /// The file ends inside a frame's data.
  public static let cutFrame = Damage.Kind("cutFrame", isTolerated: false)
  /// The file ends inside a block or chunk that holds no pixels.
  public static let cutBlock = Damage.Kind("cutBlock", isTolerated: true)
  /// The file ends before the last of the announced frames, or reading stops at a frame that is larger than any allowed
  /// canvas. The remaining frames are lost.
  public static let missingFrames = Damage.Kind("missingFrames", isTolerated: false)
  /// The index of a pixel is past the end of the palette. The pixel becomes opaque black.
  public static let pixelIndex = Damage.Kind("pixelIndex", isTolerated: true)
  /// A byte where a block should start is not a block introducer. Reading stops at this byte, as in browsers.
  package static let gifStrayByte = Damage.Kind("gif.strayByte", isTolerated: true)
  /// A side of the logical screen is 0, or the first frame is larger than the screen. The canvas is enlarged to hold
  /// the frame.
  package static let gifCanvasGrown = Damage.Kind("gif.canvasGrown", isTolerated: true)
  /// The frame reaches past the canvas and is clipped.
  package static let gifFrameOutside = Damage.Kind("gif.frameOutside", isTolerated: true)
  /// The frame has no pixels. It is kept because of its delay.
  package static let gifEmptyFrame = Damage.Kind("gif.emptyFrame", isTolerated: true)
  /// Neither the frame nor the file has a palette. All pixels of the frame become opaque black.
  package static let gifNoPalette = Damage.Kind("gif.noPalette", isTolerated: true)
  /// A graphic control extension is not 4 bytes long.
  package static let gifControlSize = Damage.Kind("gif.controlSize", isTolerated: true)
  /// A graphic control extension is followed by another one, or by no image.
  package static let gifControlUnused = Damage.Kind("gif.controlUnused", isTolerated: true)
  /// The disposal method has a reserved value of 4 to 7. The value 4 is read as *previous*, and the others are read as
  /// *keep*.
  package static let gifReservedDisposal = Damage.Kind("gif.reservedDisposal", isTolerated: true)
  /// The transparent index is past the end of the palette. It has no effect unless a pixel uses it.
  package static let gifTransparentIndex = Damage.Kind("gif.transparentIndex", isTolerated: true)
  /// A loop block has no valid loop count, or its payload does not have 3 bytes.
  package static let gifLoopBlock = Damage.Kind("gif.loopBlock", isTolerated: true)
  /// The file contains more than one loop count. The last one is used.
  package static let gifLoopTwice = Damage.Kind("gif.loopTwice", isTolerated: true)
  /// Text, comments or profiles exceeded the limits and were dropped.
  public static let metadataLimit = Damage.Kind("metadataLimit", isTolerated: true)
}

extension Damage.Kind {
  /// The minimum code size of a GIF frame is above 8. No pixels of the frame are decoded.
  package static let lzwBadMinimumCodeSize = Self("gif.lzw.badMinimumCodeSize", isTolerated: false)
  /// A GIF frame has no compressed data, so none of its pixels are decoded.
  package static let lzwNoData = Self("gif.lzw.noData", isTolerated: false)
  /// The end code of a GIF frame comes before the frame's last pixel.
  package static let lzwEndCodeEarly = Self("gif.lzw.endCodeEarly", isTolerated: false)
  /// The compressed data of a GIF frame contains a code that is not in the dictionary yet.
  package static let lzwInvalidCode = Self("gif.lzw.invalidCode", isTolerated: false)
  /// The compressed data of a GIF frame ends before the frame's last pixel.
  package static let lzwTruncated = Self("gif.lzw.truncated", isTolerated: false)
  /// A GIF frame has compressed data after its last pixel. The excess data is ignored.
  package static let lzwSurplus = Self("gif.lzw.surplus", isTolerated: true)
  /// A GIF frame has all its pixels, but no block terminator.
  package static let gifMissingTerminator = Self("gif.missingTerminator", isTolerated: true)
}

extension Damage.Kind {
  /// The animation chunks before the first frame are invalid, so the static image is shown.
  package static let pngStaticOnly = Damage.Kind(
    "png.staticOnly", isTolerated: true, isRefusedByStrict: true)
  /// The acTL chunk announces a different number of frames than the file has.
  package static let pngFrameCount = Damage.Kind("png.frameCount", isTolerated: true)
  /// There is a second acTL chunk, or an acTL chunk after the image data. Only the first valid acTL chunk before the
  /// image data is used.
  package static let pngAnimationControl = Damage.Kind("png.animationControl", isTolerated: true)
  /// There is more than one fcTL chunk before the image data. The last valid one is used.
  package static let pngFrameControlTwice = Damage.Kind("png.frameControlTwice", isTolerated: true)
  /// An fcTL chunk is not followed by frame data. The frame is dropped.
  package static let pngFrameWithoutData = Damage.Kind(
    "png.frameWithoutData", isTolerated: true, isRefusedByStrict: true)
  /// The fcTL chunk or the data of a frame is invalid. This frame and all later frames are lost.
  package static let pngFrameInvalid = Damage.Kind("png.frameInvalid", isTolerated: false)
  /// The file contains an unknown critical chunk. The frames after this chunk are lost.
  package static let pngCriticalChunk = Damage.Kind("png.criticalChunk", isTolerated: false)
  /// An ancillary chunk has a wrong CRC or invalid data. The chunk is ignored.
  package static let pngAncillaryChunk = Damage.Kind("png.ancillaryChunk", isTolerated: true)
  /// The palette chunk has a wrong CRC. Its colours are used anyway.
  package static let pngPaletteCRC = Damage.Kind("png.paletteCRC", isTolerated: false)
  /// There is another chunk between the data chunks of one picture. The data chunks are joined.
  package static let pngSplitData = Damage.Kind("png.splitData", isTolerated: true)
}

extension Damage.Kind {
  /// An fdAT chunk has a wrong CRC. Its data is used anyway, as in browsers.
  package static let pngCRC = Damage.Kind("png.crc", isTolerated: true, isRefusedByStrict: true)
  /// An IDAT chunk has a wrong CRC. Its data is used anyway, whereas Chromium drops the frame.
  package static let pngImageCRC = Damage.Kind("png.imageCRC", isTolerated: false)
  /// The checksum at the end of a frame's zlib stream is wrong. The pixels are used anyway.
  package static let pngAdler = Damage.Kind("png.adler", isTolerated: true)
  /// A frame has more data than its pixels need. The excess data is ignored.
  package static let pngSurplus = Damage.Kind("png.surplus", isTolerated: true)
  /// A frame has all its pixels, but its zlib stream does not end properly.
  package static let pngStreamEnd = Damage.Kind("png.streamEnd", isTolerated: true)
  /// The zlib stream of a frame is malformed. The rows before the error are kept.
  package static let pngStream = Damage.Kind("png.zlib", isTolerated: false)
  /// The zlib stream of a frame ends before the frame's last row. The rows decoded so far are kept.
  package static let pngShort = Damage.Kind("png.short", isTolerated: false)
  /// The file ends inside the data of a frame. The rows decoded so far are kept.
  package static let pngTruncated = Damage.Kind("png.truncated", isTolerated: false)
  /// A row has an unknown filter type. The rows before this row are kept.
  package static let pngFilter = Damage.Kind("png.filter", isTolerated: false)
}
