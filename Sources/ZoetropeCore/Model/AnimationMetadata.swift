/// The metadata of a file. Values are kept as stored; none is applied to the pixels.
public struct AnimationMetadata: Sendable, Hashable {
  /// A piece of text with its key.
  public struct Text: Sendable, Hashable {
    /// `Comment` for GIF; the keyword of tEXt, zTXt or iTXt.
    public let key: String
    /// The text, decoded as Latin-1 or UTF-8. Bytes that are neither are replaced.
    public let value: String
    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A GIF application extension that is not a loop count.
  package struct ApplicationBlock: Sendable, Hashable {
    /// The application identifier and authentication code, eleven characters in total.
    package let identifier: String
    /// The number of payload bytes, without sub-block lengths.
    package let byteCount: Int
    /// The file offset of the extension.
    package let byteOffset: Int
    package init(identifier: String, byteCount: Int, byteOffset: Int) {
      self.identifier = identifier
      self.byteCount = byteCount
      self.byteOffset = byteOffset
    }
  }

  /// GIF comments and PNG text, in file order.
  public package(set) var texts: [Text] = []
  /// GIF application extensions, in file order.
  package var applicationBlocks: [ApplicationBlock] = []
  /// The XMP packet, from a GIF `XMP Data` block or an iTXt chunk.
  public package(set) var xmp: String?
  /// gAMA: the image gamma times 100 000.
  public package(set) var gamma: UInt32?
  /// cHRM: x and y of white, red, green and blue, each times 100 000.
  public package(set) var chromaticities: [UInt32]?
  /// sRGB: the rendering intent, 0 to 3.
  public package(set) var srgbIntent: UInt8?
  /// iCCP or `ICCRGBG1012`: the colour profile, inflated.
  public package(set) var iccProfile: [UInt8]?
  /// The name of the colour profile in iCCP.
  package var iccProfileName: String?
  /// cICP: colour primaries, transfer function, matrix coefficients, full-range flag.
  public package(set) var cicp: [UInt8]?
  /// pHYs: pixels per unit along x and y, and whether the unit is the metre.
  public package(set) var pixelDensity: PixelDensity?
  /// eXIf: the Exif block.
  public package(set) var exif: [UInt8]?

  /// The XMP packet if a GIF can hold it. A GIF stores it without lengths, so a packet with a NUL could end its block
  /// early.
  package var xmpForGIF: String? { xmp.flatMap { $0.utf8.contains(0) ? nil : $0 } }

  /// The contents of pHYs.
  public struct PixelDensity: Sendable, Hashable {
    /// Pixels per unit along x.
    public let x: UInt32
    /// Pixels per unit along y.
    public let y: UInt32
    /// Whether the unit is the metre; otherwise only the aspect ratio is known.
    public let isPerMetre: Bool
    package init(x: UInt32, y: UInt32, isPerMetre: Bool) {
      self.x = x
      self.y = y
      self.isPerMetre = isPerMetre
    }
  }

  package init() {}
}
