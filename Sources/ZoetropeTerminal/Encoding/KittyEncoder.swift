package import ZoetropeFrames

/// Draws pictures with kitty's graphics protocol.
///
/// Pictures are sent at their own size, and the terminal enlarges them. If the size at which they are shown is known,
/// larger pictures are scaled down before they are sent. With a filter, smaller pictures are also enlarged before they
/// are sent.
///
/// With ``Method/edits``, the changed rectangles of a single image are replaced in place. A terminal that cannot edit
/// images (`a=f`) gets whole images with two alternating ids. The old image is deleted once the new image is placed,
/// because otherwise the image with the higher id would stay on top.
package struct KittyEncoder: FrameEncoding {
  /// The way in which a changed picture is sent.
  package enum Method: String, Sendable, Hashable {
    /// The changed rectangles are sent, and edited into the image on screen.
    case edits
    /// A whole new image is sent, and then the old image is deleted.
    case twoImages
  }

  /// The maximum number of columns, and of rows, inside tmux.
  package static var placeholderLimit: Int { KittyPlaceholders.limit }

  package let area: CellRect
  package let pixelSize: PixelSize
  let method: Method
  let passthrough: Passthrough
  let options: EncodingOptions
  /// Whether the terminal shows pictures pixel by pixel, instead of fitting them to ``area``.
  private let isUnscaled: Bool
  private let firstID: Int
  private var currentID: Int
  private var isPlaced = false
  private var hasAlpha = false
  private var history: PictureHistory
  private let compressor = PictureCompressor()

  /// Creates an encoder for pictures of `pictureSize`.
  ///
  /// - Parameters:
  ///   - area: The cells to draw to.
  ///   - pictureSize: The size of the pictures to encode.
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - method: The way in which changed pictures are sent.
  ///   - imageID: The id of the image. ``Method/twoImages`` also uses the next higher id. Only the low 24 bits are
  ///     used, because the placeholders inside tmux cannot hold more bits.
  ///   - shownSize: The size, in the terminal's pixels, at which a picture is shown, or nil if unknown.
  ///   - passthrough: The way in which sequences pass through a multiplexer.
  ///   - options: The encoding options.
  package init(
    area: CellRect, pictureSize: PixelSize, crop: PixelRect? = nil, method: Method = .edits,
    imageID: Int, shownSize: PixelSize? = nil, passthrough: Passthrough = .none,
    options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    history = PictureHistory(
      crop: crop, pictureSize: pictureSize, shownSize: shownSize, filter: options.filter)
    isUnscaled =
      options.filter != nil && shownSize != nil && history.shownSize == shownSize
      && passthrough != .tmux
    pixelSize = history.pixelSize(of: pictureSize)
    self.method = method
    self.passthrough = passthrough
    self.options = options
    firstID = imageID & 0xFF_FFFF
    currentID = firstID
  }

  package mutating func invalidate() { history.forget() }

  package var stateHash: Int {
    var hasher = Hasher()
    hasher.combine(isPlaced)
    hasher.combine(hasAlpha)
    hasher.combine(currentID)
    hasher.combine(history.contentHash)
    return hasher.finalize()
  }

  package mutating func resume(showing bitmap: Bitmap) { history.resume(showing: bitmap) }

  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    guard !area.isEmpty, let picture = history.next(bitmap, changed: changed) else { return }
    show(picture, pen: &pen, into: &output)
  }

  /// Sends a picture, or only its differences from the previous picture.
  private mutating func show(
    _ picture: PictureHistory.Picture, pen: inout PenState, into output: inout [UInt8]
  ) {
    let (bitmap, part) = (picture.bitmap, picture.part)
    if method == .edits, let difference = picture.difference {
      let regions = ChangedRegions.cover(difference, worth: 600, limit: 4)
      if hasAlpha || !keepsAlpha || regions.allSatisfy({ PixelBlock.isOpaque(bitmap, $0) }) {
        for region in regions { edit(region, of: bitmap, in: part, into: &output) }
        return
      }
    }
    place(part, of: bitmap, pen: &pen, into: &output)
  }

  /// Appends the bytes that delete the images that the terminal may store for this encoder.
  package mutating func remove(pen: inout PenState, into output: inout [UInt8]) {
    if isPlaced {
      passthrough.appendDeletion(ofImage: firstID, to: &output)
      // If the last picture was encoded but not sent, the terminal still shows the image before it.
      if method == .twoImages {
        passthrough.appendDeletion(ofImage: firstID + 1, to: &output)
      }
    }
    isPlaced = false
    history.forget()
  }

  private var keepsAlpha: Bool { options.keepsTransparency }

  private func edit(
    _ region: PixelRect, of bitmap: Bitmap, in part: PixelRect, into output: inout [UInt8]
  ) {
    var keys: [UInt8] = []
    keys.append(ascii: "a=f,i=")
    keys.append(decimal: currentID)
    keys.append(ascii: ",r=1,X=1,q=2")
    append(key: "x", region.x - part.x, to: &keys)
    append(key: "y", region.y - part.y, to: &keys)
    send(region, of: bitmap, keys: keys, isEdit: true, into: &output)
  }

  private mutating func place(
    _ part: PixelRect, of bitmap: Bitmap, pen: inout PenState, into output: inout [UInt8]
  ) {
    let old = isPlaced ? currentID : nil
    // If the new image had the id of an image that is placed, the terminal would first remove the placement.
    if method == .twoImages, old != nil {
      currentID = currentID == firstID ? firstID + 1 : firstID
    }
    hasAlpha = keepsAlpha && !PixelBlock.isOpaque(bitmap, part)
    let isVirtual = passthrough == .tmux
    if !isVirtual { pen.move(toColumn: area.column, row: area.row, into: &output) }
    var keys: [UInt8] = []
    keys.append(ascii: "a=T,i=")
    keys.append(decimal: currentID)
    keys.append(ascii: isVirtual ? ",U=1,q=2" : ",p=1,C=1,q=2")
    if !isUnscaled {
      keys.append(ascii: ",c=")
      keys.append(decimal: area.columns)
      keys.append(ascii: ",r=")
      keys.append(decimal: area.rows)
    }
    send(part, of: bitmap, keys: keys, isEdit: false, into: &output)
    if isVirtual {
      KittyPlaceholders.append(area: area, imageID: currentID, pen: &pen, into: &output)
    }
    if let old, old != currentID { passthrough.appendDeletion(ofImage: old, to: &output) }
    isPlaced = true
  }

  private func append(key: StaticString, _ value: Int, to keys: inout [UInt8]) {
    guard value != 0 else { return }
    keys.append(44)
    keys.append(ascii: key)
    keys.append(61)
    keys.append(decimal: value)
  }

  /// Sends the pixels of `rect`. With ``Method/twoImages``, the pixels are sent as a PNG file, which for pictures with
  /// few colours is a fifth smaller than raw pixels. With ``Method/edits``, raw pixels are sent, which are compressed
  /// if this makes them smaller.
  private func send(
    _ rect: PixelRect, of bitmap: Bitmap, keys: [UInt8], isEdit: Bool,
    into output: inout [UInt8]
  ) {
    var keys = keys
    if method == .twoImages,
      let file = compressor.png(bitmap, rect, over: hasAlpha ? nil : options.backdrop)
    {
      keys.append(ascii: ",f=100")
      send(file, keys: keys, isEdit: isEdit, into: &output)
      return
    }
    let pixels =
      hasAlpha
      ? PixelBlock.rgba(bitmap, rect)
      : PixelBlock.rgb(bitmap, rect, over: options.backdrop)
    append(key: "s", rect.width, to: &keys)
    append(key: "v", rect.height, to: &keys)
    append(key: "f", hasAlpha ? 32 : 24, to: &keys)
    if let packed = compressor.zlib(pixels), packed.count < pixels.count {
      keys.append(ascii: ",o=z")
      send(packed, keys: keys, isEdit: isEdit, into: &output)
    } else {
      send(pixels, keys: keys, isEdit: isEdit, into: &output)
    }
  }

  /// Sends data in chunks of 4096 characters, which is the maximum that the protocol allows.
  private func send(
    _ data: [UInt8], keys: [UInt8], isEdit: Bool, into output: inout [UInt8]
  ) {
    let chunkBytes = 3072
    var start = 0
    repeat {
      let end = min(start + chunkBytes, data.count)
      var sequence: [UInt8] = []
      sequence.reserveCapacity(4300)
      sequence.append(ascii: "\u{1B}_G")
      if start == 0 {
        sequence += keys
        if end < data.count { sequence.append(ascii: ",m=1") }
      } else {
        // Later chunks of an edit must repeat the action and the frame number. kitty 0.26 takes the number from the
        // last chunk; if the number is missing, kitty creates a new frame, which is never shown.
        if isEdit { sequence.append(ascii: "a=f,r=1,q=2,") }
        sequence.append(ascii: end < data.count ? "m=1" : "m=0")
      }
      sequence.append(59)
      Base64.append(data[start..<end], to: &sequence)
      sequence.append(ascii: "\u{1B}\\")
      passthrough.append(sequence, to: &output)
      start = end
    } while start < data.count
  }
}

/// Places an image with Unicode placeholders, which tmux moves and clips like any other text.
///
/// Each cell contains U+10EEEE with two combining marks, which give the row and the column of the cell in the image.
/// The colour of the character is the id of the image.
enum KittyPlaceholders {
  /// The maximum number of rows, and of columns. The protocol numbers them with 297 combining marks.
  static var limit: Int { marks.count }

  static func append(
    area: CellRect, imageID: Int, pen: inout PenState, into output: inout [UInt8]
  ) {
    let color = TerminalColor(word: UInt32(truncatingIfNeeded: imageID & 0xFF_FFFF))
    pen.setColors(foreground: color, background: .default, into: &output)
    for row in 0..<min(area.rows, limit) {
      pen.move(toColumn: area.column, row: area.row + row, into: &output)
      for column in 0..<min(area.columns, limit) {
        output.append(scalar: 0x10EEEE)
        output.append(scalar: marks[row])
        output.append(scalar: marks[column])
      }
      // Whether the cursor wraps here depends on the width of the screen, which is unknown.
      pen.column = nil
    }
  }

  /// The protocol's marks for the numbers 0, 1, 2 and so on. They are the combining marks of class 230 in Unicode 6.0
  /// that do not occur in any decomposition.
  private static let marks: [UInt32] = [
    0x0305, 0x030D, 0x030E, 0x0310, 0x0312, 0x033D, 0x033E, 0x033F, 0x0346, 0x034A, 0x034B, 0x034C,
    0x0350, 0x0351, 0x0352, 0x0357, 0x035B, 0x0363, 0x0364, 0x0365, 0x0366, 0x0367, 0x0368, 0x0369,
    0x036A, 0x036B, 0x036C, 0x036D, 0x036E, 0x036F, 0x0483, 0x0484, 0x0485, 0x0486, 0x0487, 0x0592,
    0x0593, 0x0594, 0x0595, 0x0597, 0x0598, 0x0599, 0x059C, 0x059D, 0x059E, 0x059F, 0x05A0, 0x05A1,
    0x05A8, 0x05A9, 0x05AB, 0x05AC, 0x05AF, 0x05C4, 0x0610, 0x0611, 0x0612, 0x0613, 0x0614, 0x0615,
    0x0616, 0x0617, 0x0657, 0x0658, 0x0659, 0x065A, 0x065B, 0x065D, 0x065E, 0x06D6, 0x06D7, 0x06D8,
    0x06D9, 0x06DA, 0x06DB, 0x06DC, 0x06DF, 0x06E0, 0x06E1, 0x06E2, 0x06E4, 0x06E7, 0x06E8, 0x06EB,
    0x06EC, 0x0730, 0x0732, 0x0733, 0x0735, 0x0736, 0x073A, 0x073D, 0x073F, 0x0740, 0x0741, 0x0743,
    0x0745, 0x0747, 0x0749, 0x074A, 0x07EB, 0x07EC, 0x07ED, 0x07EE, 0x07EF, 0x07F0, 0x07F1, 0x07F3,
    0x0816, 0x0817, 0x0818, 0x0819, 0x081B, 0x081C, 0x081D, 0x081E, 0x081F, 0x0820, 0x0821, 0x0822,
    0x0823, 0x0825, 0x0826, 0x0827, 0x0829, 0x082A, 0x082B, 0x082C, 0x082D, 0x0951, 0x0953, 0x0954,
    0x0F82, 0x0F83, 0x0F86, 0x0F87, 0x135D, 0x135E, 0x135F, 0x17DD, 0x193A, 0x1A17, 0x1A75, 0x1A76,
    0x1A77, 0x1A78, 0x1A79, 0x1A7A, 0x1A7B, 0x1A7C, 0x1B6B, 0x1B6D, 0x1B6E, 0x1B6F, 0x1B70, 0x1B71,
    0x1B72, 0x1B73, 0x1CD0, 0x1CD1, 0x1CD2, 0x1CDA, 0x1CDB, 0x1CE0, 0x1DC0, 0x1DC1, 0x1DC3, 0x1DC4,
    0x1DC5, 0x1DC6, 0x1DC7, 0x1DC8, 0x1DC9, 0x1DCB, 0x1DCC, 0x1DD1, 0x1DD2, 0x1DD3, 0x1DD4, 0x1DD5,
    0x1DD6, 0x1DD7, 0x1DD8, 0x1DD9, 0x1DDA, 0x1DDB, 0x1DDC, 0x1DDD, 0x1DDE, 0x1DDF, 0x1DE0, 0x1DE1,
    0x1DE2, 0x1DE3, 0x1DE4, 0x1DE5, 0x1DE6, 0x1DFE, 0x20D0, 0x20D1, 0x20D4, 0x20D5, 0x20D6, 0x20D7,
    0x20DB, 0x20DC, 0x20E1, 0x20E7, 0x20E9, 0x20F0, 0x2CEF, 0x2CF0, 0x2CF1, 0x2DE0, 0x2DE1, 0x2DE2,
    0x2DE3, 0x2DE4, 0x2DE5, 0x2DE6, 0x2DE7, 0x2DE8, 0x2DE9, 0x2DEA, 0x2DEB, 0x2DEC, 0x2DED, 0x2DEE,
    0x2DEF, 0x2DF0, 0x2DF1, 0x2DF2, 0x2DF3, 0x2DF4, 0x2DF5, 0x2DF6, 0x2DF7, 0x2DF8, 0x2DF9, 0x2DFA,
    0x2DFB, 0x2DFC, 0x2DFD, 0x2DFE, 0x2DFF, 0xA66F, 0xA67C, 0xA67D, 0xA6F0, 0xA6F1, 0xA8E0, 0xA8E1,
    0xA8E2, 0xA8E3, 0xA8E4, 0xA8E5, 0xA8E6, 0xA8E7, 0xA8E8, 0xA8E9, 0xA8EA, 0xA8EB, 0xA8EC, 0xA8ED,
    0xA8EE, 0xA8EF, 0xA8F0, 0xA8F1, 0xAAB0, 0xAAB2, 0xAAB3, 0xAAB7, 0xAAB8, 0xAABE, 0xAABF, 0xAAC1,
    0xFE20, 0xFE21, 0xFE22, 0xFE23, 0xFE24, 0xFE25, 0xFE26, 0x10A0F, 0x10A38, 0x1D185, 0x1D186,
    0x1D187, 0x1D188, 0x1D189, 0x1D1AA, 0x1D1AB, 0x1D1AC, 0x1D1AD, 0x1D242, 0x1D243, 0x1D244,
  ]
}
