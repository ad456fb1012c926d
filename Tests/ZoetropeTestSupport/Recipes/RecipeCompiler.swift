internal import Zoetrope

/// Turns the statements of a recipe into the bytes of a file and what is expected of them.
struct RecipeCompiler {
  var colors = RecipeColors()
  var about: [String] = []
  var others: [String] = []
  var expectations = FixtureExpectations()
  /// The file, when the recipe says `gif`.
  var gif: GIFBuilder?
  /// The file, when the recipe says `png`.
  var apng: APNGBuilder?
  /// The palette of the GIF's screen or the PNG's PLTE.
  var palette: [PixelSample] = []
  /// GIF: the canvas. PNG: what IHDR says.
  var canvas = PixelRect.empty
  var layout = PNGLayout()
  /// PNG: the rectangle of the last fcTL.
  var frameRect: PixelRect?
  /// PNG: the compressed data of the last picture, for statements that write the rest of it.
  var heldData: [UInt8] = []
  private var patches: [(offset: Int, bytes: [UInt8])] = []

  /// The file that the statements describe.
  var bytes: [UInt8] {
    var bytes = gif?.bytes ?? apng?.bytes ?? []
    for patch in patches {
      for (index, byte) in patch.bytes.enumerated()
      where bytes.indices.contains(patch.offset + index) {
        bytes[patch.offset + index] = byte
      }
    }
    return bytes
  }

  mutating func run(_ statements: [RecipeStatement]) throws(RecipeError) {
    for statement in statements { try run(statement) }
  }

  private mutating func run(_ statement: RecipeStatement) throws(RecipeError) {
    var arguments = RecipeArguments(statement)
    switch arguments.keyword {
    case "about":
      about.append(statement.words.dropFirst().joined(separator: " "))
      return
    case "others":
      others.append(statement.words.dropFirst().joined(separator: " "))
      return
    case "color", "index", "palette": try colors.define(&arguments)
    case "expect": try expect(&arguments, body: statement.body)
    case "raw": raw(try hexadecimal(&arguments))
    case "bytes": raw(arguments.rest().flatMap(\.recipeBytes))
    case "truncate": truncate(to: try arguments.int("a byte count"))
    case "patch":
      let offset = try arguments.int("an offset")
      patches.append((offset, try hexadecimal(&arguments)))
    case "gif":
      var builder = GIFBuilder()
      builder.signature(try arguments.word("a signature"))
      gif = builder
    case "png":
      var builder = APNGBuilder()
      if !arguments.flag("unsigned") { builder.png.signature() }
      apng = builder
    default:
      let isKnown =
        gif == nil
        ? try runPNG(&arguments, body: statement.body)
        : try runGIF(&arguments, body: statement.body)
      if !isKnown { throw arguments.error("is not a statement of this format") }
    }
    try arguments.finish()
  }

  private mutating func raw(_ bytes: [UInt8]) {
    if gif == nil, apng == nil { apng = APNGBuilder() }
    gif?.raw(bytes)
    apng?.png.raw(bytes)
  }

  private mutating func truncate(to count: Int) {
    gif?.truncate(to: count)
    apng?.png.truncate(to: count)
  }

  func hexadecimal(_ arguments: inout RecipeArguments) throws(RecipeError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let word = arguments.next() {
      let digits = Array(word.utf8)
      guard digits.count % 2 == 0 else { throw arguments.error("“\(word)” has an odd digit") }
      for index in stride(from: 0, to: digits.count, by: 2) {
        let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
        guard let byte = UInt8(pair, radix: 16) else {
          throw arguments.error("“\(pair)” is not a byte")
        }
        bytes.append(byte)
      }
    }
    return bytes
  }
}
