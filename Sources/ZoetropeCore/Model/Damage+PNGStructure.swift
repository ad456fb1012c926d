extension Damage.Kind {
  /// The animation chunks break the rules before the first frame: the static image is shown.
  public static let pngStaticOnly = Damage.Kind(
    "png.staticOnly", isTolerated: true, isRefusedByStrict: true)
  /// acTL announces another number of frames than there are.
  public static let pngFrameCount = Damage.Kind("png.frameCount", isTolerated: true)
  /// A second acTL, or one after the image data; it is ignored.
  public static let pngAnimationControl = Damage.Kind("png.animationControl", isTolerated: true)
  /// A second fcTL before one frame's data; the last one counts.
  public static let pngFrameControlTwice = Damage.Kind("png.frameControlTwice", isTolerated: true)
  /// A frame control without data; the frame is left out.
  public static let pngFrameWithoutData = Damage.Kind(
    "png.frameWithoutData", isTolerated: true, isRefusedByStrict: true)
  /// A frame's control or data breaks the rules; the frame and those after it are lost.
  public static let pngFrameInvalid = Damage.Kind("png.frameInvalid", isTolerated: false)
  /// A chunk that no decoder may skip is not known; the frames after it are lost.
  public static let pngCriticalChunk = Damage.Kind("png.criticalChunk", isTolerated: false)
  /// An ancillary chunk's CRC is wrong or its data makes no sense; it is ignored.
  public static let pngAncillaryChunk = Damage.Kind("png.ancillaryChunk", isTolerated: true)
  /// A palette chunk's CRC is wrong; its colours are used.
  public static let pngPaletteCRC = Damage.Kind("png.paletteCRC", isTolerated: false)
  /// Another chunk stands between the data chunks of one picture; the data is joined.
  public static let pngSplitData = Damage.Kind("png.splitData", isTolerated: true)
}
