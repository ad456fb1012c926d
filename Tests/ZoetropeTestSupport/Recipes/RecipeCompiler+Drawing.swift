internal import Zoetrope

extension RecipeCompiler {
  /// Draws the lines below a statement into `picture`, in canvas coordinates.
  ///
  ///     |rgb|                     a row of letters, from the top
  ///     fill L                    every pixel
  ///     rect X Y W H L
  ///     disc X Y RADIUS L
  ///     gradient FROM TO across|down|diagonal
  ///     bands LETTERS across|down|diagonal
  ///     noise SEED LETTERS
  func draw(_ body: [RecipeStatement], into picture: inout Picture) throws(RecipeError) {
    var rows: [[PixelSample]] = []
    for statement in body {
      if let row = statement.row {
        let samples = try colors.row(row, line: statement.line)
        guard samples.count == picture.rect.width else {
          throw RecipeError(
            statement.line, "\(samples.count) pixels in a row of \(picture.rect.width)")
        }
        rows.append(samples)
        continue
      }
      var arguments = RecipeArguments(statement)
      try draw(&arguments, into: &picture)
      try arguments.finish()
    }
    guard rows.isEmpty || rows.count == picture.rect.height else {
      throw RecipeError(
        body.first?.line ?? 0, "\(rows.count) rows in a picture of \(picture.rect.height)")
    }
    picture.rows(rows)
  }

  private func draw(
    _ arguments: inout RecipeArguments, into picture: inout Picture
  ) throws(RecipeError) {
    switch arguments.keyword {
    case "fill":
      picture.fill(try letter(&arguments))
    case "rect":
      let area = try rect(&arguments)
      picture.fill(area, try letter(&arguments))
    case "disc":
      let x = try arguments.int("x")
      let y = try arguments.int("y")
      let radius = try arguments.int("the radius")
      picture.disc(x: x, y: y, radius: max(radius, 0), try letter(&arguments))
    case "gradient":
      let start = try letter(&arguments)
      let end = try letter(&arguments)
      picture.gradient(start, end, try axis(&arguments))
    case "bands":
      let list = try colors.samples(try arguments.word("letters"), arguments)
      picture.bands(list, try axis(&arguments))
    case "noise":
      let seed = try arguments.int("a seed")
      let list = try colors.samples(try arguments.word("letters"), arguments)
      picture.noise(seed: UInt64(truncatingIfNeeded: seed), list)
    default:
      throw arguments.error("is no way to draw")
    }
  }

  private func letter(_ arguments: inout RecipeArguments) throws(RecipeError) -> PixelSample {
    try colors.single(try arguments.word("a letter"), arguments)
  }

  private func axis(_ arguments: inout RecipeArguments) throws(RecipeError) -> Picture.Axis {
    let word = try arguments.word("a direction")
    guard let axis = Picture.Axis(rawValue: word) else {
      throw arguments.error("“\(word)” is no direction")
    }
    return axis
  }

  /// Four numbers: x, y, width, height.
  func rect(_ arguments: inout RecipeArguments) throws(RecipeError) -> PixelRect {
    let x = try arguments.int("x")
    let y = try arguments.int("y")
    let width = try arguments.int("the width")
    let height = try arguments.int("the height")
    return PixelRect(x: x, y: y, width: width, height: height)
  }
}
