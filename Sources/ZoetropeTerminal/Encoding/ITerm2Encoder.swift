package import ZoetropeFrames

/// Draws pictures as inline images of iTerm2, which WezTerm, mintty and other terminals also support.
///
/// The protocol cannot change part of an image, so every picture that differs from the previous one is sent whole, as a
/// PNG file that the terminal scales.
package struct ITerm2Encoder: FrameEncoding {
  package let area: CellRect
  package let pixelSize: PixelSize
  let passthrough: Passthrough
  let options: EncodingOptions
  private var history: PictureHistory
  private let compressor = PictureCompressor()

  /// Creates an encoder for pictures of `pictureSize`.
  ///
  /// - Parameters:
  ///   - area: The cells to draw to.
  ///   - pictureSize: The size of the pictures to encode.
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - shownSize: The size, in the terminal's pixels, at which a picture is shown, or nil if unknown. Larger pictures
  ///     are scaled down to this size before they are sent.
  ///   - passthrough: The way in which sequences pass through a multiplexer.
  ///   - options: The encoding options.
  package init(
    area: CellRect, pictureSize: PixelSize, crop: PixelRect? = nil, shownSize: PixelSize? = nil,
    passthrough: Passthrough = .none, options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    history = PictureHistory(
      crop: crop, pictureSize: pictureSize, shownSize: shownSize, filter: options.filter)
    pixelSize = history.pixelSize(of: pictureSize)
    self.passthrough = passthrough
    self.options = options
  }

  package mutating func invalidate() { history.forget() }

  package var stateHash: Int { history.contentHash ?? 0 }

  package mutating func resume(showing bitmap: Bitmap) { history.resume(showing: bitmap) }

  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    guard !area.isEmpty, let picture = history.next(bitmap, changed: changed) else { return }
    guard
      let file = compressor.png(
        picture.bitmap, picture.part, over: options.keepsTransparency ? nil : options.backdrop)
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

  /// The maximum number of bytes of a file, or of a part of a file, in one sequence inside tmux, which drops sequences
  /// of more than 1 MiB. Base64 takes four bytes for every three.
  private static let tmuxByteLimit = 768_000

  /// Appends the file in several sequences, which iTerm2 supports from version 3.5 on.
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
