public import Zoetrope

/// Draws pictures as inline images of iTerm2, which WezTerm, mintty and others know as well.
///
/// The protocol has no way to change a part of an image: every picture that changed is sent whole,
/// as a PNG that the terminal scales.
public struct ITerm2Encoder: FrameEncoding {
  /// The cells that are drawn to.
  public let area: CellRect
  /// Pixels that the terminal will show; pictures of this size need no scaling.
  public let pixelSize: PixelSize
  /// Whether the bytes are graphics, which tmux and screen need wrapped.
  public var isGraphics: Bool { true }
  let passthrough: Passthrough
  let options: EncodingOptions
  private var history: PictureHistory
  private let deflater = Deflater(level: 6)

  /// An encoder for pictures of `pictureSize`; `crop` is the part of them to show.
  ///
  /// `shownSize` is how many pixels of the terminal they cover, to which larger ones are made smaller
  /// before they are sent; nil when that is not known.
  public init(
    area: CellRect, pictureSize: PixelSize, crop: PixelRect? = nil, shownSize: PixelSize? = nil,
    passthrough: Passthrough = .none, options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    history = PictureHistory(crop: crop, shownSize: shownSize)
    pixelSize = history.pixelSize(of: pictureSize)
    self.passthrough = passthrough
    self.options = options
  }

  /// Forgets what the terminal shows: the next picture is sent whole.
  public mutating func invalidate() { history.forget() }

  /// Appends the bytes that free what the terminal keeps for this encoder.
  public mutating func remove(pen: inout PenState, into output: inout [UInt8]) {}

  /// A hash of everything that the next bytes depend on, the next picture aside.
  public var stateHash: Int {
    var hasher = Hasher()
    hasher.combine(history.contentHash)
    return hasher.finalize()
  }

  /// A copy that knows what the terminal shows and holds no picture.
  public func withoutPicture() -> Self {
    var copy = self
    copy.history.forget()
    return copy
  }

  /// Takes back the picture that ``withoutPicture()`` left out.
  public mutating func resume(showing bitmap: Bitmap) { history.resume(showing: bitmap) }

  /// Bytes of memory that ``withoutPicture()`` holds for itself.
  public var stateByteCount: Int { 0 }

  /// Appends the bytes that change what the terminal shows into `bitmap`; none when nothing changes.
  public mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    guard !area.isEmpty, let picture = history.next(bitmap, changed: changed) else { return }
    guard
      let file = CompactPNG.encode(
        picture.bitmap, picture.part, over: options.keepsTransparency ? nil : options.backdrop,
        deflater: deflater)
    else { return }
    var sequence: [UInt8] = []
    if passthrough == .none {
      pen.move(toColumn: area.column, row: area.row, into: &output)
    } else {
      var outer = PenState.unknown
      outer.move(toColumn: area.column, row: area.row, into: &sequence)
    }
    let isSplit = passthrough == .tmux && file.count > Self.tmuxByteLimit
    sequence.append(ascii: "\u{1B}]1337;")
    if isSplit { sequence.append(ascii: "Multipart") }
    sequence.append(ascii: "File=inline=1;doNotMoveCursor=1;size=")
    sequence.append(decimal: file.count)
    sequence.append(ascii: ";width=")
    sequence.append(decimal: area.columns)
    sequence.append(ascii: ";height=")
    sequence.append(decimal: area.rows)
    sequence.append(ascii: ";preserveAspectRatio=0")
    if isSplit {
      sequence.append(7)
      passthrough.append(sequence, to: &output)
      appendParts(of: file, to: &output)
    } else {
      sequence.append(58)
      Base64.append(file[...], to: &sequence)
      sequence.append(7)
      passthrough.append(sequence, to: &output)
    }
    // Only some terminals leave the cursor where it was.
    pen.forgetPosition()
  }

  /// tmux drops sequences of more than 1 MiB; base64 takes four bytes for three.
  private static let tmuxByteLimit = 768_000

  /// The file in several sequences, which iTerm2 knows since 3.5.
  private func appendParts(of file: [UInt8], to output: inout [UInt8]) {
    var start = 0
    while start < file.count {
      let end = min(start + Self.tmuxByteLimit, file.count)
      var sequence: [UInt8] = []
      sequence.append(ascii: "\u{1B}]1337;FilePart=")
      Base64.append(file[start..<end], to: &sequence)
      sequence.append(7)
      passthrough.append(sequence, to: &output)
      start = end
    }
    var last: [UInt8] = []
    last.append(ascii: "\u{1B}]1337;FileEnd\u{7}")
    passthrough.append(last, to: &output)
  }
}
