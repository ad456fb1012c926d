import Zoetrope

/// Decides for each frame whether its picture is written, and records which frames show each written picture.
struct PictureSieve {
  /// The identity of a picture. The size is part of the identity, because the hash covers only the bytes.
  private struct Picture: Hashable {
    let size: PixelSize
    let hash: PixelHash
  }

  private let choice: PictureChoice
  /// The index of the first frame with each picture, for ``PictureChoice/unique``. Each entry takes at least 40 bytes.
  private var firsts: [Picture: Int] = [:]
  /// The frame that was written last, for ``PictureChoice/changed``.
  private var last: (index: Int, bitmap: Bitmap)?
  private(set) var showings = PictureShowings()

  init(_ choice: PictureChoice) { self.choice = choice }

  /// Returns whether the picture of frame `index` is to be written. This method must be called for every selected
  /// frame, in order.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  mutating func takes(_ bitmap: Bitmap, of index: Int) throws(AnimatedImageError) -> Bool {
    switch choice {
    case .all: return true
    case .unique:
      let picture = Picture(size: bitmap.size, hash: try PixelHash(of: bitmap))
      if let first = firsts[picture] {
        showings.note(index, as: first)
        return false
      }
      firsts[picture] = index
      showings.note(index, as: index)
    case .changed:
      let rect = last.map { bitmap.changes(since: $0.bitmap) } ?? PixelRect(bitmap.size)
      if let last, rect.isEmpty {
        showings.note(index, as: last.index)
        return false
      }
      last = (index, bitmap)
      showings.note(index, as: index)
      showings.changedRects[index] = rect
    }
    return true
  }
}

extension Bitmap {
  /// Returns the smallest rectangle that contains all differences from `other`, or the whole picture if the sizes or
  /// the formats differ.
  func changes(since other: Bitmap) -> PixelRect {
    guard size == other.size, format == other.format else { return PixelRect(size) }
    if storage === other.storage { return .empty }
    let rows = (0..<height).filter { !row($0).hasSameBytes(as: other.row($0)) }
    guard let top = rows.first, let bottom = rows.last else { return .empty }
    let pixel = format.bytesPerPixel
    var (left, right) = (width, 0)
    for y in rows {
      let (row, otherRow) = (row(y), other.row(y))
      var byte = 0
      while byte < left * pixel, row[byte] == otherRow[byte] { byte += 1 }
      left = min(left, byte / pixel)
      byte = width * pixel
      while byte > right * pixel, row[byte - 1] == otherRow[byte - 1] { byte -= 1 }
      right = max(right, (byte + pixel - 1) / pixel)
    }
    return PixelRect(x: left, y: top, width: right - left, height: bottom + 1 - top)
  }
}
