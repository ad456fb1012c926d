internal import Zoetrope

extension RecipeCompiler {
  /// Runs a statement that describes a part of a GIF; false if no statement has this name.
  mutating func runGIF(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) -> Bool {
    switch arguments.keyword {
    case "screen": try screen(&arguments)
    case "gce": try graphicControl(&arguments)
    case "image": try image(&arguments, body: body)
    case "loop":
      let count = try arguments.int("the loop count")
      let application = arguments.option("id") ?? "NETSCAPE2.0"
      let byteCount = try arguments.intOption("size") ?? 3
      let kind = try arguments.intOption("kind") ?? 1
      gif?.loop(
        UInt16(truncatingIfNeeded: count), application: application, byteCount: byteCount,
        kind: UInt8(truncatingIfNeeded: kind))
    case "comment": gif?.comment(try arguments.word("the text").recipeBytes)
    case "plain-text": gif?.plainText(try arguments.word("the text").recipeBytes)
    case "xmp": gif?.xmp(try arguments.word("the packet").recipeBytes)
    case "application":
      let identifier = try arguments.word("the identifier")
      gif?.application(identifier, payload: try arguments.word("the payload").recipeBytes)
    case "extension":
      let label = UInt8(truncatingIfNeeded: try arguments.int("the label"))
      let isTerminated = !arguments.flag("unterminated")
      let blocks = arguments.rest().map(\.recipeBytes)
      gif?.extension(label: label, blocks: blocks, isTerminated: isTerminated)
    case "trailer": gif?.trailer()
    default: return false
    }
    return true
  }

  private mutating func screen(_ arguments: inout RecipeArguments) throws(RecipeError) {
    let width = try arguments.int("the width")
    let height = try arguments.int("the height")
    canvas = PixelRect(x: 0, y: 0, width: width, height: height)
    let table = try gifPalette(&arguments)
    palette = table?.samples ?? []
    gif?.screen(
      width: width, height: height, palette: table?.table,
      background: UInt8(truncatingIfNeeded: try arguments.intOption("background") ?? 0),
      aspect: UInt8(truncatingIfNeeded: try arguments.intOption("aspect") ?? 0))
  }

  private func gifPalette(
    _ arguments: inout RecipeArguments
  ) throws(RecipeError) -> (samples: [PixelSample], table: GIFPalette)? {
    let isSorted = arguments.flag("sorted")
    guard let word = arguments.option("palette") else { return nil }
    let samples = try colors.samples(word, arguments)
    return (samples, GIFPalette(samples.map(\.rgba), isSorted: isSorted))
  }

  /// `transparent=` is a letter of the global palette, or a number.
  private mutating func graphicControl(_ arguments: inout RecipeArguments) throws(RecipeError) {
    var control = GIFGraphicControl(
      delay: UInt16(truncatingIfNeeded: try arguments.intOption("delay") ?? 0),
      disposal: UInt8(truncatingIfNeeded: try arguments.intOption("disposal") ?? 0))
    if let word = arguments.option("transparent") {
      if let number = Int(word) {
        control.transparentIndex = UInt8(truncatingIfNeeded: number)
      } else {
        let sample = try colors.single(word, arguments)
        guard let index = palette.firstIndex(of: sample) else {
          throw arguments.error("“\(word)” is not in the global palette")
        }
        control.transparentIndex = UInt8(truncatingIfNeeded: index)
      }
    }
    control.waitsForInput = arguments.flag("input")
    control.byteCount = try arguments.intOption("size") ?? 4
    control.isTerminated = !arguments.flag("unterminated")
    gif?.graphicControl(control)
  }

  private mutating func image(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) {
    let rect = try rect(&arguments)
    let local = try gifPalette(&arguments)
    var picture = Picture(rect)
    try draw(body, into: &picture)
    guard let indices = picture.indices(in: local?.samples ?? palette) else {
      throw arguments.error("a pixel is in no palette")
    }
    var frame = GIFFrame(rect: rect, indices: indices, palette: local?.table)
    frame.isInterlaced = arguments.flag("interlaced")
    frame.blockSize = try arguments.intOption("block") ?? 255
    frame.dataLimit = try arguments.intOption("bytes")
    frame.hasData = !arguments.flag("no-data")
    frame.isTerminated = !arguments.flag("unterminated")
    if let extra = arguments.option("extra-block") { frame.extraBlocks = [extra.recipeBytes] }
    frame.lzw = try lzw(&arguments)
    gif?.frame(frame)
  }

  private func lzw(_ arguments: inout RecipeArguments) throws(RecipeError) -> LZWOptions {
    var options = LZWOptions()
    options.minimumCodeSize = try arguments.intOption("code-size")
    options.declaredCodeSize = try arguments.intOption("declared-code-size").map {
      UInt8(truncatingIfNeeded: $0)
    }
    options.startsWithClear = !arguments.flag("no-clear")
    options.endsWithEndCode = !arguments.flag("no-end")
    options.clearInterval = try arguments.intOption("clear-every")
    if arguments.flag("deferred-clear") { options.fullTable = .keep }
    options.surplusPixels = try arguments.intOption("surplus") ?? 0
    options.tail = arguments.option("tail")?.recipeBytes ?? []
    if let count = try arguments.intOption("end-after") {
      options.fault = .endCode(afterPixels: count)
    } else if let count = try arguments.intOption("bad-code-after") {
      options.fault = .badCode(afterPixels: count)
    } else if let count = try arguments.intOption("stop-after") {
      options.fault = .stop(afterPixels: count)
    }
    return options
  }
}
