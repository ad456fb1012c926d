/// Chooses those frames of an animation that look least alike.
///
/// Frames are compared as thumbnails of 16x16 pixels. A thumbnail takes 1 KiB of memory, or none if it looks like the
/// thumbnail of the previous frame. Making a thumbnail takes about as much time as decoding its frame, however large
/// the canvas is. Only the changed areas of a frame are scaled, each area separately. Large canvases are scaled in two
/// steps, because scaling one pixel of a thumbnail reads the whole area that the pixel covers.
package struct DistinctFrames {
  private var thumbnails: [[UInt8]] = []
  private var steps: [Step] = []
  private let crop: Rendering?
  /// The index of the frame that was added last, or nil if no frame was added yet or adding the last frame failed.
  private var last: Int?

  private static let side = 16
  /// The side of the bitmap that the first of two scaling steps yields, and the side of a canvas above which two
  /// scaling steps are faster than one.
  private static let (coarseSide, largeSide) = (128, 512)

  /// One scaling step, and the result of this step for the frame added last.
  private struct Step {
    let scaler: FrameScaler
    var result: Bitmap?

    /// Scales `bitmap` and returns the areas in which the result differs from the previous result. `changes` are the
    /// areas in which `bitmap` differs from the previous bitmap. If `changes` or the result is nil, everything may
    /// differ.
    mutating func scale(
      _ bitmap: Bitmap, _ changes: [PixelRect]?, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> [PixelRect]? {
      let previous = result
      // The result is reset first, so that after an error the next bitmap is scaled completely.
      result = nil
      guard var scaled = previous, let changes else {
        result = try scaler.scale(bitmap, isCancelled: isCancelled)
        return nil
      }
      var areas: [PixelRect] = []
      for change in changes {
        let area: PixelRect
        (scaled, area) = try scaler.rescale(
          bitmap, previous: scaled, changed: change, isCancelled: isCancelled)
        if !area.isEmpty { areas.append(area) }
      }
      result = scaled
      return areas
    }
  }

  /// Creates a chooser without frames.
  ///
  /// - Parameter rendering: The rendering in which the frames will be shown. The areas that it crops away are ignored.
  ///   Default: nil, which compares the whole canvas.
  package init(shownAs rendering: Rendering? = nil) { crop = rendering }

  /// Adds frame `index` of the image that `reader` reads. This is cheaper if the frame directly follows the frame that
  /// was added before.
  ///
  /// - Throws: The errors of ``FrameReader/frame(at:isCancelled:)``.
  package mutating func add(
    _ index: Int, of reader: FrameReader, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let changes = last.flatMap { reader.image.changes(from: $0, to: index) }
    // The index is reset first, so that after an error the next frame is compared with no other.
    last = nil
    try add(
      reader.frame(at: index, isCancelled: isCancelled).bitmap, changes: changes,
      isCancelled: isCancelled)
    last = index
  }

  /// Adds a frame, given its bitmap. `changes` are the areas in which the bitmap differs from the bitmap that was added
  /// before; nil means everywhere.
  package mutating func add(
    _ bitmap: Bitmap, changes: [PixelRect]? = nil, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    if steps.isEmpty { steps = makeSteps(from: bitmap.size) }
    var (small, areas) = (bitmap, changes)
    for place in steps.indices {
      areas = try steps[place].scale(small, areas, isCancelled: isCancelled)
      small = steps[place].result ?? small
    }
    if areas?.isEmpty == true, let thumbnail = thumbnails.last {
      thumbnails.append(thumbnail)
    } else {
      thumbnails.append(Self.bytes(of: try small.converted(to: .rgba8)))
    }
  }

  private func makeSteps(from size: PixelSize) -> [Step] {
    let picture = PixelSize(width: Self.side, height: Self.side)
    var box = SourceBox(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    if let crop, let target = crop.target {
      let shown = target.size(of: size, fit: crop.fit)
      box = target.sourceBox(of: size, size: shown, fit: crop.fit)
    }
    guard max(size.width, size.height) > Self.largeSide else {
      return [
        Step(
          scaler: FrameScaler(from: size, box: box, to: picture, filter: .box, linearLight: false))
      ]
    }
    let coarse = PixelSize(
      width: min(size.width, Self.coarseSide), height: min(size.height, Self.coarseSide))
    return [
      Step(scaler: FrameScaler(from: size, box: box, to: coarse, filter: .box, linearLight: false)),
      Step(
        scaler: FrameScaler(
          from: coarse, box: SourceBox(coarse), to: picture, filter: .box, linearLight: false)),
    ]
  }

  private static func bytes(of picture: Bitmap) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(picture.width * picture.height * 4)
    for y in 0..<picture.height {
      let row = picture.pixels(row: y)
      for x in 0..<picture.width {
        // Multiplying by alpha makes the colours of transparent pixels irrelevant.
        let alpha = Int(row[x].alpha)
        for channel in [row[x].red, row[x].green, row[x].blue, 255] {
          bytes.append(UInt8(Int(channel) * alpha / 255))
        }
      }
    }
    return bytes
  }

  /// Chooses at most `count` of the frames added, and returns their positions in ascending order. The first frame is
  /// always chosen. Each further choice is the frame that differs most from all frames chosen so far. The result has
  /// fewer than `count` frames if all other frames look like chosen ones, or once `isCancelled` returns true.
  package func choose(_ count: Int, isCancelled: () -> Bool = { false }) -> [Int] {
    guard !thumbnails.isEmpty, count > 0 else { return [] }
    var chosen = [0]
    var distances = thumbnails.map { Self.distance($0, thumbnails[0]) }
    while chosen.count < count, !isCancelled() {
      var farthest = 0
      for (place, distance) in distances.enumerated() where distance > distances[farthest] {
        farthest = place
      }
      guard distances[farthest] > 0 else { break }
      chosen.append(farthest)
      for place in distances.indices where distances[place] > 0 {
        let distance = Self.distance(thumbnails[place], thumbnails[farthest])
        distances[place] = min(distances[place], distance)
      }
    }
    return chosen.sorted()
  }

  /// Returns the sum of the squared differences between the bytes of two thumbnails.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var sum = 0
    for index in left.indices {
      let difference = Int(left[index]) - Int(right[index])
      sum += difference * difference
    }
    return sum
  }
}

extension AnimatedImage {
  /// Returns the areas in which frame `index` may differ from the earlier frame `previous`. Returns nil if it is
  /// simplest to assume that the frames differ everywhere.
  ///
  /// A frame's bitmap is the same whichever frames were read before it. The two bitmaps can therefore differ only where
  /// the frames from `previous` to `index` cleared or drew something.
  fileprivate func changes(from previous: Int, to index: Int) -> [PixelRect]? {
    guard previous <= index else { return nil }
    let canvas = PixelRect(canvasSize)
    var areas: [PixelRect] = []
    var pixels = 0
    for frame in previous..<index {
      var touched = [frames[frame + 1].rect]
      if frames[frame].disposal != .keep { touched.append(frames[frame].rect) }
      for rect in touched.map({ $0.intersection(canvas) }) where !rect.isEmpty && rect != areas.last
      {
        areas.append(rect)
        // Scaling an area has a fixed cost, however small the area is.
        pixels += rect.size.area + 1 << 12
      }
      if pixels >= canvas.size.area + 1 << 14 { return nil }
    }
    return areas
  }
}
