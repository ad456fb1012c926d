package import Zoetrope

/// Opens a fixture and records where it differs from its recipe.
package struct FixtureCheck: Sendable {
  /// The fixture.
  package let recipe: Recipe
  /// How it is opened.
  package let options: DecodingOptions
  /// The differences from what was expected, one clause each.
  package private(set) var mismatches: [String] = []

  private var expected: FixtureExpectations { recipe.expectations }

  /// Opens the fixture, reads every frame in order, and compares.
  ///
  /// The options' damage policy must be `.salvage`, for which recipes are written.
  package init(_ recipe: Recipe, options: DecodingOptions = .init()) {
    self.recipe = recipe
    self.options = options
    do {
      try compare(try AnimatedImage(bytes: recipe.bytes, options: options))
    } catch {
      if expected.errorCode != "any" {
        expect("the error", of: expected.errorCode ?? "no error", got: error.code.name)
      }
    }
  }

  private mutating func compare(_ image: AnimatedImage) throws(AnimatedImageError) {
    if expected.errorCode != nil {
      return expect("an error", of: expected.errorCode, got: "\(image.frames.count) frames")
    }
    compareStructure(image)
    let damage = try comparePixels(image)
    compare(damage: image.damage + damage)
    guard let picture = expected.staticImage else { return }
    if image.staticImage == nil { return mismatches.append("there is no static image") }
    compare(try image.renderStaticBitmap(), with: picture, tolerance: 0, "static image")
  }

  private mutating func expect<Value: Equatable>(_ what: String, of wanted: Value?, got: Value) {
    guard let wanted, wanted != got else { return }
    mismatches.append("\(what) is \(got), expected \(wanted)")
  }

  private mutating func compareStructure(_ image: AnimatedImage) {
    expect("the format", of: expected.format?.rawValue, got: image.format.rawValue)
    expect("the canvas", of: expected.canvasSize, got: image.canvasSize)
    expect("the frame count", of: expected.frameCount, got: image.frames.count)
    expect("the play count", of: expected.playCount, got: image.playCount)
    expect("the delays", of: expected.delays, got: image.frames.map(\.delay))
    expect("the rectangles", of: expected.rects, got: image.frames.map(\.rect))
    expect("the disposals", of: expected.disposals, got: image.frames.map(\.disposal))
    expect("the blends", of: expected.blends, got: image.frames.map(\.blend))
    let texts = image.metadata.texts.map { "\($0.key)=\($0.value)" }
    for text in expected.texts where !texts.contains(text) {
      mismatches.append("the text “\(text)” is not there")
    }
  }

  private mutating func comparePixels(
    _ image: AnimatedImage
  ) throws(AnimatedImageError) -> [Damage] {
    let reader = FrameReader(image)
    var damage: [Damage] = []
    while let frame = try reader.next() {
      if let found = frame.damage { damage.append(found) }
      for wanted in expected.frames where wanted.index == frame.index {
        compare(
          frame.bitmap, with: wanted.picture, tolerance: wanted.tolerance, "frame \(frame.index)")
      }
    }
    for wanted in expected.frames where wanted.index >= image.frames.count {
      mismatches.append("frame \(wanted.index) is missing")
    }
    return damage
  }

  /// Compares pixel by pixel and records the first difference; all transparent pixels are equal.
  private mutating func compare(
    _ bitmap: Bitmap, with picture: Picture, tolerance: Int, _ name: String
  ) {
    guard bitmap.size == picture.rect.size else {
      return expect("the size of \(name)", of: picture.rect.size, got: bitmap.size)
    }
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let (wanted, got) = (picture[x, y].rgba, bitmap[x, y])
        if wanted.alpha == 0, got.alpha == 0 { continue }
        let pairs = [
          (wanted.red, got.red), (wanted.green, got.green), (wanted.blue, got.blue),
          (wanted.alpha, got.alpha),
        ]
        if pairs.contains(where: { abs(Int($0) - Int($1)) > tolerance }) {
          mismatches.append("\(name) has \(got) at \(x), \(y), expected \(wanted)")
          return
        }
      }
    }
  }

  private mutating func compare(damage: [Damage]) {
    let losses = damage.filter { !$0.kind.isTolerated }
    for wanted in expected.losses {
      let isThere = losses.contains {
        (wanted.frameIndex == nil || wanted.frameIndex == $0.frameIndex)
          && (wanted.validRows == nil || wanted.validRows == $0.validRows)
      }
      if !isThere {
        let frame = wanted.frameIndex.map { " in frame \($0)" } ?? ""
        let rows = wanted.validRows.map { " with \($0) valid rows" } ?? ""
        mismatches.append("no damage\(frame)\(rows), reported \(damage)")
      }
    }
    if expected.losses.isEmpty, !expected.allowsLosses, !losses.isEmpty {
      mismatches.append("damage where none is: \(losses)")
    }
    let warnings = damage.filter(\.kind.isTolerated)
    if expected.hasWarning, warnings.isEmpty { mismatches.append("no warning, reported \(damage)") }
    if expected.isClean, !warnings.isEmpty {
      mismatches.append("a warning where nothing is wrong: \(warnings)")
    }
    for found in damage where !(0...recipe.bytes.count).contains(found.byteOffset) {
      mismatches.append("damage at byte \(found.byteOffset) of \(recipe.bytes.count)")
    }
  }
}
