internal import Zoetrope

extension RecipeCompiler {
  /// Records what a decoder must find in the file:
  ///
  ///     expect gif|apng|png        the format
  ///     expect canvas W H          the canvas
  ///     expect frames N            the number of frames
  ///     expect plays N|indefinite  plays in total
  ///     expect delays N/D …        stored delays, in order
  ///     expect rects W×H+X+Y …     stored rectangles, written 4x4+0+0
  ///     expect dispose keep|background|previous …
  ///     expect blend source|over …
  ///     expect frame I [from J] [within=N]   the composited picture, drawn below
  ///     expect static              the static image that is no frame, drawn below
  ///     expect text KEY VALUE      metadata
  ///     expect damage [frame=I] [rows=N]   something is lost
  ///     expect warning             a tolerated deviation is reported
  ///     expect damage|warning optional     … may be reported
  ///     expect error CODE|any      opening, or the first frame, fails
  ///     expect strict throws|passes
  ///     expect partial N           frames under `.partialRows`
  ///
  /// Without `damage`, `warning` or `error` nothing may be reported.
  mutating func expect(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) {
    let what = try arguments.word("what is expected")
    switch what {
    case "gif", "apng", "png": expectations.format = AnimationFormat(rawValue: what)
    case "canvas":
      let width = try arguments.int("the width")
      expectations.canvasSize = PixelSize(
        width: width, height: try arguments.int("the height"))
    case "frames": expectations.frameCount = try arguments.int("the number")
    case "plays":
      let word = try arguments.word("the number")
      expectations.playCount =
        word == "indefinite" ? .indefinite : .finite(try arguments.number(word))
    case "text":
      let key = try arguments.word("the key")
      expectations.texts.append("\(key)=\(try arguments.word("the text"))")
    case "damage" where arguments.flag("optional"): expectations.allowsLosses = true
    case "warning" where arguments.flag("optional"): expectations.allowsWarnings = true
    case "damage":
      expectations.losses.append(
        .init(
          frameIndex: try arguments.intOption("frame"),
          validRows: try arguments.intOption("rows")))
    case "warning": expectations.hasWarning = true
    case "error": expectations.errorCode = try arguments.word("the code")
    case "strict": expectations.strictThrows = try arguments.word("the result") == "throws"
    case "partial": expectations.partialFrameCount = try arguments.int("the number")
    case "frame": try expectFrame(&arguments, body: body)
    case "static":
      var picture = Picture(canvas)
      try draw(body, into: &picture)
      expectations.staticImage = picture
    default: try expectList(what, &arguments)
    }
  }

  private mutating func expectFrame(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) {
    let index = try arguments.int("the frame")
    let size = expectations.canvasSize ?? canvas.size
    var picture = Picture(PixelRect(size))
    if arguments.flag("from") {
      let base = try arguments.int("the frame to start from")
      guard let frame = expectations.frames.first(where: { $0.index == base }) else {
        throw arguments.error("frame \(base) is not known yet")
      }
      picture = frame.picture
    }
    try draw(body, into: &picture)
    expectations.frames.append(
      .init(
        index: index, picture: picture, tolerance: try arguments.intOption("within") ?? 0))
  }

  private mutating func expectList(
    _ what: String, _ arguments: inout RecipeArguments
  ) throws(RecipeError) {
    let words = arguments.rest()
    switch what {
    case "delays":
      var delays: [FrameDelay] = []
      for word in words {
        let parts = word.split(separator: "/")
        guard parts.count == 2, let numerator = UInt32(parts[0]),
          let denominator = UInt32(parts[1])
        else { throw arguments.error("a delay is N/D") }
        delays.append(FrameDelay(numerator: numerator, denominator: denominator))
      }
      expectations.delays = delays
    case "rects":
      var rects: [PixelRect] = []
      for word in words {
        let numbers = word.split { $0 == "x" || $0 == "+" }.compactMap { Int($0) }
        guard numbers.count == 4 else { throw arguments.error("a rectangle is WxH+X+Y") }
        rects.append(
          PixelRect(x: numbers[2], y: numbers[3], width: numbers[0], height: numbers[1]))
      }
      expectations.rects = rects
    case "dispose":
      let names: [String: DisposalMethod] = [
        "keep": .keep, "background": .background, "previous": .previous,
      ]
      expectations.disposals = words.compactMap { names[$0] }
    case "blend":
      expectations.blends = words.compactMap { ["source": .source, "over": .over][$0] }
    default: throw arguments.error("“\(what)” cannot be expected")
    }
  }
}
