public import Zoetrope

/// Draws pictures with kitty's graphics protocol.
///
/// Pictures are sent in their own size and enlarged by the terminal; larger ones than it shows are
/// made smaller first where ``init(area:pictureSize:crop:method:imageID:shownSize:passthrough:options:)``
/// is told how many pixels that are. With
/// ``Method/edits`` the changed rectangles of one image are replaced in place; terminals that do
/// not know that (`a=f`) get whole images under two ids in turn, the old one deleted after the new
/// one is placed, since of two at the same place the higher id would stay on top.
public struct KittyEncoder: FrameEncoding {
  /// How a changed picture is sent.
  public enum Method: String, Sendable, Hashable {
    /// The changed rectangles, edited into the image that is shown.
    case edits
    /// A whole new image, then the old one is deleted.
    case twoImages
  }

  /// The most columns and rows of an area inside tmux.
  public static var placeholderLimit: Int { KittyPlaceholders.limit }

  /// The cells that are drawn to.
  public let area: CellRect
  /// Pixels that the terminal will show; pictures of this size need no scaling.
  public let pixelSize: PixelSize
  /// Whether the bytes are graphics, which tmux and screen need wrapped.
  public var isGraphics: Bool { true }
  let method: Method
  let passthrough: Passthrough
  let options: EncodingOptions
  private let crop: PixelRect?
  private let firstID: Int
  private var currentID: Int
  private var isPlaced = false
  private var hasAlpha = false
  private var previous: Bitmap?
  private let shownSize: PixelSize?
  private var shrinker: PictureShrinker?
  private var source = PixelRect.empty
  private let deflater = Deflater(level: 6)

  /// An encoder that uses the image ids `imageID` and, for ``Method/twoImages``, the one above.
  ///
  /// `pictureSize` is that of the pictures to come; `crop` the part of them to show. `shownSize` is how
  /// many pixels of the terminal they cover; nil when that is not known. Ids of 24 bits are needed
  /// inside tmux, where the image is placed by characters of its own.
  public init(
    area: CellRect, pictureSize: PixelSize, crop: PixelRect? = nil, method: Method = .edits,
    imageID: Int, shownSize: PixelSize? = nil, passthrough: Passthrough = .none,
    options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    let size = crop?.size ?? pictureSize
    self.shownSize = shownSize
    pixelSize = PixelSize(
      width: min(size.width, shownSize?.width ?? .max),
      height: min(size.height, shownSize?.height ?? .max))
    self.crop = crop
    self.method = method
    self.passthrough = passthrough
    self.options = options
    firstID = imageID & 0xFF_FFFF
    currentID = firstID
  }

  /// Forgets what the terminal shows: the next picture is sent whole.
  public mutating func invalidate() {
    previous = nil
    shrinker?.forget()
  }

  /// A hash of everything that the next bytes depend on, the next picture aside.
  public var stateHash: Int {
    var hasher = Hasher()
    hasher.combine(isPlaced)
    hasher.combine(hasAlpha)
    hasher.combine(currentID)
    hasher.combine(previous?.contentHash)
    return hasher.finalize()
  }

  /// A copy that knows what the terminal shows and holds no picture.
  public func withoutPicture() -> Self {
    var copy = self
    copy.previous = nil
    copy.shrinker?.forget()
    return copy
  }

  /// Takes back the picture that ``withoutPicture()`` left out.
  public mutating func resume(showing bitmap: Bitmap) {
    previous = bitmap
    shrinker?.forget()
  }

  /// Bytes of memory that ``withoutPicture()`` holds for itself.
  public var stateByteCount: Int { 0 }

  /// Appends the bytes that change what the terminal shows into `bitmap`; none when nothing changes.
  public mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    let all = PixelRect(bitmap.size)
    let cropped = crop.map { $0.intersection(all) } ?? all
    let part = cropped.isEmpty ? all : cropped
    guard !area.isEmpty, !part.isEmpty else { return }
    var difference: FrameDifference?
    let before = part == source && previous?.size == bitmap.size ? previous : nil
    if let before {
      let found = FrameDifference(
        from: before, to: bitmap, within: (changed ?? part).intersection(part))
      if found.bounds.isEmpty { return }
      difference = found
    } else {
      shrinker = shownSize.flatMap { PictureShrinker(of: part, to: $0) }
    }
    previous = bitmap
    source = part
    guard var shrinker else {
      show(part, of: bitmap, difference, pen: &pen, into: &output)
      return
    }
    let small = shrinker.shrink(bitmap, after: before, changed: difference?.bounds ?? part)
    self.shrinker = shrinker
    if let difference = small.difference, difference.bounds.isEmpty { return }
    show(
      PixelRect(shrinker.size), of: small.bitmap, small.difference, pen: &pen, into: &output)
  }

  /// Sends `part` of a picture, or what of it differs from the one before.
  private mutating func show(
    _ part: PixelRect, of bitmap: Bitmap, _ difference: FrameDifference?, pen: inout PenState,
    into output: inout [UInt8]
  ) {
    if method == .edits, let difference {
      let regions = ChangedRegions.cover(difference, worth: 600, limit: 4)
      if hasAlpha || !keepsAlpha || regions.allSatisfy({ PixelBlock.isOpaque(bitmap, $0) }) {
        for region in regions { edit(region, of: bitmap, in: part, into: &output) }
        return
      }
    }
    place(part, of: bitmap, pen: &pen, into: &output)
  }

  /// Appends the bytes that free what the terminal keeps for this encoder.
  public mutating func remove(pen: inout PenState, into output: inout [UInt8]) {
    if isPlaced { delete(currentID, into: &output) }
    isPlaced = false
    previous = nil
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
    // A new image under the id of a placed one would take its placement away first.
    if method == .twoImages, old != nil {
      currentID = currentID == firstID ? firstID + 1 : firstID
    }
    hasAlpha = keepsAlpha && !PixelBlock.isOpaque(bitmap, part)
    let isVirtual = passthrough == .tmux
    if !isVirtual { pen.move(toColumn: area.column, row: area.row, into: &output) }
    var keys: [UInt8] = []
    keys.append(ascii: "a=T,i=")
    keys.append(decimal: currentID)
    keys.append(ascii: isVirtual ? ",U=1,q=2,c=" : ",p=1,C=1,q=2,c=")
    keys.append(decimal: area.columns)
    keys.append(ascii: ",r=")
    keys.append(decimal: area.rows)
    send(part, of: bitmap, keys: keys, isEdit: false, into: &output)
    if isVirtual {
      KittyPlaceholders.append(area: area, imageID: currentID, pen: &pen, into: &output)
    }
    if let old, old != currentID { delete(old, into: &output) }
    isPlaced = true
  }

  private func delete(_ id: Int, into output: inout [UInt8]) {
    var sequence: [UInt8] = []
    sequence.append(ascii: "\u{1B}_Ga=d,d=I,q=2,i=")
    sequence.append(decimal: id)
    sequence.append(ascii: "\u{1B}\\")
    passthrough.append(sequence, to: &output)
  }

  private func append(key: StaticString, _ value: Int, to keys: inout [UInt8]) {
    guard value != 0 else { return }
    keys.append(44)
    keys.append(ascii: key)
    keys.append(61)
    keys.append(decimal: value)
  }

  /// Sends pixels: as a PNG file when nothing will be edited later, since a picture of few colours
  /// is a fifth smaller so (measured: 48 KB for 59), else as they are.
  private func send(
    _ rect: PixelRect, of bitmap: Bitmap, keys: [UInt8], isEdit: Bool,
    into output: inout [UInt8]
  ) {
    var keys = keys
    if method == .twoImages,
      let file = CompactPNG.encode(
        bitmap, rect, over: hasAlpha ? nil : options.backdrop, deflater: deflater)
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
    if let packed = deflater.zlib(pixels), packed.count < pixels.count {
      keys.append(ascii: ",o=z")
      send(packed, keys: keys, isEdit: isEdit, into: &output)
    } else {
      send(pixels, keys: keys, isEdit: isEdit, into: &output)
    }
  }

  /// Sends data in chunks of 4096 characters, the most that the protocol allows.
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
        // Later chunks of a frame's data have to say again that they are that, and of which frame:
        // kitty 0.26 reads the number from the last, and made a new one, never shown, without it.
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
