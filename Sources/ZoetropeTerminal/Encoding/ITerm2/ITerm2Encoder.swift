public import Zoetrope

/// Draws pictures as inline images of iTerm2, which WezTerm, mintty and others know as well.
///
/// The protocol has no way to change a part of an image: every picture that changed is sent whole,
/// as a PNG of its own size that the terminal scales.
public struct ITerm2Encoder: FrameEncoding {
  /// The cells that are drawn to.
  public let area: CellRect
  /// Pixels that the terminal will show; pictures of this size need no scaling.
  public let pixelSize: PixelSize
  /// Whether the bytes are graphics, which tmux and screen need wrapped.
  public var isGraphics: Bool { true }
  let passthrough: Passthrough
  let options: EncodingOptions
  private let crop: PixelRect?
  private var previous: Bitmap?
  private let deflater = Deflater(level: 6)

  /// An encoder for pictures of `pictureSize`; `crop` is the part of them to show.
  public init(
    area: CellRect, pictureSize: PixelSize, crop: PixelRect? = nil,
    passthrough: Passthrough = .none, options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    pixelSize = crop?.size ?? pictureSize
    self.crop = crop
    self.passthrough = passthrough
    self.options = options
  }

  /// Forgets what the terminal shows: the next picture is sent whole.
  public mutating func invalidate() { previous = nil }

  /// Appends the bytes that free what the terminal keeps for this encoder.
  public mutating func remove(pen: inout PenState, into output: inout [UInt8]) {}

  /// A hash of everything that the next bytes depend on, the next picture aside.
  public var stateHash: Int {
    var hasher = Hasher()
    hasher.combine(previous?.contentHash)
    return hasher.finalize()
  }

  /// Bytes of memory that a snapshot may hold for itself.
  public var stateByteCount: Int { previous?.cost ?? 0 }

  /// Appends the bytes that change what the terminal shows into `bitmap`; none when nothing changes.
  public mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    let all = PixelRect(bitmap.size)
    let cropped = crop.map { $0.intersection(all) } ?? all
    let part = cropped.isEmpty ? all : cropped
    guard !area.isEmpty, !part.isEmpty else { return }
    if let previous, previous.size == bitmap.size {
      let difference = FrameDifference(
        from: previous, to: bitmap, within: (changed ?? part).intersection(part))
      if difference.bounds.isEmpty { return }
    }
    previous = bitmap
    guard
      let file = CompactPNG.encode(
        bitmap, part, over: options.keepsTransparency ? nil : options.backdrop,
        deflater: deflater)
    else { return }
    var sequence: [UInt8] = []
    if passthrough == .none {
      pen.move(toColumn: area.column, row: area.row, into: &output)
    } else {
      var outer = PenState.unknown
      outer.move(toColumn: area.column, row: area.row, into: &sequence)
    }
    sequence.append(ascii: "\u{1B}]1337;File=inline=1;doNotMoveCursor=1;size=")
    sequence.append(decimal: file.count)
    sequence.append(ascii: ";width=")
    sequence.append(decimal: area.columns)
    sequence.append(ascii: ";height=")
    sequence.append(decimal: area.rows)
    sequence.append(ascii: ";preserveAspectRatio=0:")
    Base64.append(file[...], to: &sequence)
    sequence.append(7)
    passthrough.append(sequence, to: &output)
    // Only some terminals leave the cursor where it was.
    pen.forgetPosition()
  }
}
