internal import Zoetrope

extension RecipeCompiler {
  /// Runs a statement that describes a chunk of a PNG; false if no statement has this name.
  ///
  /// Every chunk takes `crc=bad` and `length=N`.
  mutating func runPNG(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) -> Bool {
    switch arguments.keyword {
    case "ihdr": try header(&arguments)
    case "plte":
      palette = try colors.samples(try arguments.word("the colours"), arguments)
      try chunk("PLTE", PNGBuilder.palette(palette.map(\.rgba)), &arguments)
    case "trns":
      let data =
        arguments.flag("palette")
        ? PNGBuilder.transparency(palette.map(\.rgba)) : try hexadecimal(&arguments)
      try chunk("tRNS", data, &arguments)
    case "actl":
      let frames = UInt32(truncatingIfNeeded: try arguments.intOption("frames") ?? 0)
      let plays = UInt32(truncatingIfNeeded: try arguments.intOption("plays") ?? 0)
      try chunk(
        "acTL", ZlibStream.bigEndian(frames) + ZlibStream.bigEndian(plays), &arguments)
    case "fctl": try frameControl(&arguments)
    case "idat", "fdat": try imageData(&arguments, body: body)
    case "chunk":
      let type = try arguments.word("the type")
      let isHexadecimal = arguments.flag("hex")
      let data =
        isHexadecimal ? try hexadecimal(&arguments) : arguments.rest().flatMap(\.recipeBytes)
      try chunk(type, data, &arguments)
    case "iend": try chunk("IEND", [], &arguments)
    default: return false
    }
    return true
  }

  private mutating func chunk(
    _ type: String, _ data: [UInt8], _ arguments: inout RecipeArguments
  ) throws(RecipeError) {
    var chunk = PNGChunk(type, data)
    if let word = arguments.option("crc") {
      guard word == "bad" else { throw arguments.error("crc= is always bad") }
      chunk.hasCorrectChecksum = false
    }
    chunk.declaredLength = try arguments.intOption("length").map {
      UInt32(truncatingIfNeeded: $0)
    }
    apng?.png.chunk(chunk)
  }

  /// `ihdr W H color=TYPE depth=N [interlaced] [compression=N] [filter=N]`
  private mutating func header(_ arguments: inout RecipeArguments) throws(RecipeError) {
    let width = try arguments.int("the width")
    let height = try arguments.int("the height")
    canvas = PixelRect(x: 0, y: 0, width: width, height: height)
    let types: [String: PNGLayout.ColorType] = [
      "grey": .gray, "rgb": .rgb, "palette": .palette, "grey-alpha": .grayAlpha, "rgba": .rgba,
    ]
    let name = arguments.option("color") ?? "rgba"
    guard let type = types[name] else { throw arguments.error("no colour type \(name)") }
    layout = PNGLayout(
      type, depth: try arguments.intOption("depth") ?? 8,
      isInterlaced: arguments.flag("interlaced"))
    var data = PNGBuilder.header(
      width: UInt32(truncatingIfNeeded: width), height: UInt32(truncatingIfNeeded: height),
      layout: layout)
    data[10] = UInt8(truncatingIfNeeded: try arguments.intOption("compression") ?? 0)
    data[11] = UInt8(truncatingIfNeeded: try arguments.intOption("filter") ?? 0)
    try chunk("IHDR", data, &arguments)
  }

  /// `fctl X Y W H delay=N/D dispose=none|background|previous|N blend=source|over|N sequence=N`
  /// and `size=N` to cut or pad the chunk's data.
  private mutating func frameControl(_ arguments: inout RecipeArguments) throws(RecipeError) {
    let rect = try rect(&arguments)
    frameRect = rect
    var control = APNGFrameControl(
      width: UInt32(truncatingIfNeeded: rect.width),
      height: UInt32(truncatingIfNeeded: rect.height),
      x: UInt32(truncatingIfNeeded: rect.x), y: UInt32(truncatingIfNeeded: rect.y))
    if let delay = arguments.option("delay") {
      let parts = delay.split(separator: "/")
      guard parts.count == 2 else { throw arguments.error("a delay is N/D") }
      control.delayNumerator = UInt16(
        truncatingIfNeeded: try arguments.number(String(parts[0])))
      control.delayDenominator = UInt16(
        truncatingIfNeeded: try arguments.number(String(parts[1])))
    }
    control.disposal = try field(
      "dispose", ["none": 0, "background": 1, "previous": 2], &arguments)
    control.blend = try field("blend", ["source": 0, "over": 1], &arguments)
    let sequence = try arguments.intOption("sequence").map { UInt32(truncatingIfNeeded: $0) }
    var data = (apng?.sequence(sequence) ?? []) + control.bytes
    if let size = try arguments.intOption("size") {
      data = Array((data + [UInt8](repeating: 0, count: max(size, 0))).prefix(max(size, 0)))
    }
    try chunk("fcTL", data, &arguments)
  }

  private func field(
    _ name: String, _ names: [String: UInt8], _ arguments: inout RecipeArguments
  ) throws(RecipeError) -> UInt8 {
    guard let word = arguments.option(name) else { return 0 }
    if let value = names[word] { return value }
    return UInt8(truncatingIfNeeded: try arguments.number(word))
  }

  /// `idat` or `fdat`, with the picture below it. The options say how the data is written:
  ///
  ///     filters=0,1,2,3,4       the filter of each row in turn
  ///     filter-byte=ROW,VALUE   a wrong filter byte
  ///     keep=N extra=N          bytes of filtered rows to keep, zero bytes to add
  ///     stored, stored=N        no compression, in blocks of N bytes
  ///     adler=bad damage=N cut=N tail="…"   faults of the zlib stream
  ///     split=N                 in N chunks of about the same size
  ///     part=I/N                only part I of N; without a picture, of the one before
  ///     empty-first             a chunk without data comes first
  ///     sequence=N              the sequence number of the first fdAT
  ///     size=N                  fdAT: bytes of the chunk's data, sequence number counted
  ///     rect=frame|canvas       which size the picture has
  private mutating func imageData(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) {
    let isFrame = arguments.keyword == "fdat"
    if !body.isEmpty { heldData = try compressed(&arguments, body: body) }
    var parts = [heldData]
    if let count = try arguments.intOption("split") { parts = Self.split(heldData, into: count) }
    if let part = arguments.option("part") {
      let numbers = part.split(separator: "/").compactMap { Int($0) }
      guard numbers.count == 2, numbers[0] >= 1, numbers[0] <= numbers[1] else {
        throw arguments.error("a part is I/N")
      }
      parts = [Self.split(heldData, into: numbers[1])[numbers[0] - 1]]
    }
    if arguments.flag("empty-first") { parts.insert([], at: 0) }
    var sequence = try arguments.intOption("sequence").map { UInt32(truncatingIfNeeded: $0) }
    let size = try arguments.intOption("size")
    for part in parts {
      var data = part
      if isFrame {
        data = (apng?.sequence(sequence) ?? []) + part
        sequence = nil
      }
      if let size { data = Array(data.prefix(max(size, 0))) }
      var copy = arguments
      try chunk(isFrame ? "fdAT" : "IDAT", data, &copy)
    }
    _ = arguments.option("crc")
    _ = arguments.option("length")
  }

  private func compressed(
    _ arguments: inout RecipeArguments, body: [RecipeStatement]
  ) throws(RecipeError) -> [UInt8] {
    let usesFrame = arguments.option("rect").map { $0 == "frame" } ?? (arguments.keyword == "fdat")
    var picture = Picture(usesFrame ? frameRect ?? canvas : canvas)
    try draw(body, into: &picture)
    if layout.colorType == .palette {
      guard let indices = picture.indices(in: palette) else {
        throw arguments.error("a pixel is in no palette")
      }
      for (position, index) in indices.enumerated() { picture.samples[position].index = index }
    }
    var lines = PNGScanlines(layout)
    lines.filters = (try arguments.listOption("filters") ?? [0]).map { UInt8(clamping: $0) }
    if let wrong = try arguments.listOption("filter-byte"), wrong.count == 2 {
      lines.filterBytes = [wrong[0]: UInt8(clamping: wrong[1])]
    }
    var rows = lines.encode(picture)
    if let keep = try arguments.intOption("keep") { rows = Array(rows.prefix(max(keep, 0))) }
    if let extra = try arguments.intOption("extra") {
      rows += [UInt8](repeating: 0, count: max(extra, 0))
    }
    var stream = ZlibStream()
    if arguments.flag("stored") { stream.method = .stored(blockSize: 65_535) }
    if let size = try arguments.intOption("stored") { stream.method = .stored(blockSize: size) }
    stream.hasCorrectChecksum = arguments.option("adler") == nil
    stream.damagedByte = try arguments.intOption("damage")
    stream.byteLimit = try arguments.intOption("cut")
    stream.tail = arguments.option("tail")?.recipeBytes ?? []
    return stream.encode(rows)
  }

  private static func split(_ data: [UInt8], into count: Int) -> [[UInt8]] {
    let parts = max(count, 1)
    return (0..<parts).map {
      Array(data[(data.count * $0 / parts)..<(data.count * ($0 + 1) / parts)])
    }
  }
}
