/// Chooses the frames that look least alike.
///
/// Compares frames at 16x16 pixels. A frame takes 1 KiB of memory, or none if it looks like the one before, and about
/// as much time as decoding it, however large the canvas. Only changed areas are scaled, each separately. Large
/// canvases are scaled in two steps, because scaling one small pixel reads the whole area that it covers.
package struct DistinctFrames {
  private var thumbnails: [[UInt8]] = []
  private var steps: [Step] = []
  private let crop: Rendering?
  /// The index of the frame added last.
  private var last: Int?

  private static let side = 16
  /// The side of the picture after the first step, and the canvas side from which that step pays off.
  private static let (coarseSide, largeSide) = (128, 512)

  /// One scaling step and its result for the last frame.
  private struct Step {
    let scaler: FrameScaler
    var result: Bitmap?

    /// Scales `bitmap`, which differs from the last one only in `changes`; nil means everywhere. Returns the areas in
    /// which the results differ.
    mutating func scale(
      _ bitmap: Bitmap, _ changes: [PixelRect]?, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> [PixelRect]? {
      let previous = result
      // Reset first: after an error, the next frame must be scaled completely.
      result = nil
      guard var scaled = previous, let changes else {
        result = try scaler.scale(bitmap, isCancelled: isCancelled)
        return nil
      }
      var areas: [PixelRect] = []
      for change in changes {
        let area: PixelRect
        (scaled, area) = try scaler.rescale(
          bitmap, previous: scaled, dirty: change, isCancelled: isCancelled)
        if !area.isEmpty { areas.append(area) }
      }
      result = scaled
      return areas
    }
  }

  /// - Parameter rendering: How frames will be shown; areas that it crops away are ignored. Default: nil, the whole
  ///   canvas.
  package init(shownAs rendering: Rendering? = nil) { crop = rendering }

  /// Adds frame `index` of `reader`. Cheaper if it directly follows the frame added before.
  ///
  /// - Throws: The errors of ``FrameReader/frame(at:isCancelled:)``.
  package mutating func add(
    _ index: Int, of reader: FrameReader, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let changes = last.flatMap { reader.image.changes(from: $0, to: index) }
    // Reset first: after an error, the next frame is compared with no other.
    last = nil
    try add(
      reader.frame(at: index, isCancelled: isCancelled).bitmap, changes: changes,
      isCancelled: isCancelled)
    last = index
  }

  /// Adds a frame that differs from the one added before only in `changes`; nil means everywhere.
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
        // The colours of transparent pixels must not count.
        let alpha = Int(row[x].alpha)
        for channel in [row[x].red, row[x].green, row[x].blue, 255] {
          bytes.append(UInt8(Int(channel) * alpha / 255))
        }
      }
    }
    return bytes
  }

  /// Returns the positions, ascending, of at most `count` of the frames added. Chooses the first frame, and then
  /// repeatedly the one that differs most from all chosen so far. Returns fewer if all others look like chosen ones, or
  /// once `isCancelled` returns true.
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

  /// Returns the sum of the squared differences.
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
  /// Returns the areas in which frame `index` may differ from the earlier frame `previous`; nil if it is simplest to
  /// assume that everything differs.
  ///
  /// A frame's bitmap is the same whichever frames were read before it, so the two can differ only where frames from
  /// `previous` to `index` cleared or drew something.
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
        // Each area has a fixed cost, however small it is.
        pixels += rect.size.area + 1 << 12
      }
      if pixels >= canvas.size.area + 1 << 14 { return nil }
    }
    return areas
  }
}
