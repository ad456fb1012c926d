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
      let rect =
        last.map { PixelDifference.bounds(from: $0.bitmap, to: bitmap) } ?? PixelRect(bitmap.size)
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
