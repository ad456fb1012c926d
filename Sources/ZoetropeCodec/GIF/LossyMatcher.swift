/// Changes pixels of a frame to similar colours so that LZW finds longer phrases.
///
/// The matcher searches as an LZW compressor does. Phrases form a trie, and a phrase continues as long as a child node
/// has a colour close enough to the next pixel. The search chooses the phrase whose length outweighs its error most.
/// The output consists of pixels rather than codes: a lossless encoder then finds the same phrases or longer ones, and
/// can store the pixels in the shortest way.
///
/// The symbols of a frame are the colours of its changed pixels, and one symbol for unchanged pixels. Of colours that
/// are within the tolerance of each other, only the most frequent is a symbol: with fewer colours, phrases are longer,
/// which saves more bytes at the same quality than a lower tolerance does. Every pixel stays within the tolerance of
/// its true colour.
///
/// Most of a pixel's error is carried to the pixels to the right and below, so that errors even out. Within an area of
/// one colour nothing is carried, because it would turn into noise. A pixel that can stay as shown does, at no cost,
/// and nothing is carried to or from it: otherwise, areas at rest would flicker.
///
/// A matcher has one owner at a time. It keeps its working memory, about 57 KB plus 16 bytes per colour and 24 bytes
/// per pixel of a row, for the next frame.
package struct LossyMatcher: Sendable {
  private let square: Int32
  /// The trie. For each code, these arrays contain the last symbol of its phrase, the code of the phrase without that
  /// symbol, the first child, and the next child of the same parent.
  private var symbols = [UInt16](repeating: 0, count: codeLimit)
  private var parents = [Int32](repeating: -1, count: codeLimit)
  private var children = [Int32](repeating: -1, count: codeLimit)
  private var siblings = [Int32](repeating: -1, count: codeLimit)
  private var next = 0
  /// The frame's colours, both as `RGBA.word` and as perceived colours.
  private var words: [UInt32] = []
  private var colors: [PerceivedColor] = []
  /// The number of symbols: one for each colour, and one for unchanged pixels unless every pixel is drawn.
  private var symbolCount = 0
  /// The errors of the pixels drawn last: those of the current row, and those of the row above.
  private var errors: [PerceivedColor] = []
  private var errorsAbove: [PerceivedColor] = []
  private var front: [Node] = []
  private var grown: [Node] = []

  private static let codeLimit = 4096
  /// The maximum number of phrases of one length that are followed. These are the phrases with the smallest error.
  private static let branches = 12
  /// The value of a pixel in a phrase, and the cost of the maximum error. With a lower `errorCost`, the search prefers
  /// long phrases of inaccurate colours. With a higher one, it uses only close colours.
  private static let pixelValue: Int32 = 64
  private static let errorCost: Int32 = 48
  /// The sixteenths of a pixel's error that are carried to the next pixel of the row and to the pixel below.
  private static let carried: (right: Int32, down: Int32) = (7, 5)

  /// A phrase that is being matched.
  private struct Node {
    var code: Int32
    var cost: Int32
    /// The error of the phrase's last pixel, which the next pixel compensates.
    var error: PerceivedColor
  }

  /// Creates a matcher.
  ///
  /// - Parameter tolerance: The tolerance, in the units of ``PerceivedColor/greatestSquare(_:)``, greater than 0.
  package init(tolerance: Int) {
    square = max(1, PerceivedColor.greatestSquare(tolerance))
  }

  /// Draws an approximation of `truth` in `rect` of `picture`.
  ///
  /// - Parameters:
  ///   - truth: The picture to approximate. Its pixels are opaque or transparent.
  ///   - shown: The picture shown before the frame, or nil if the canvas is clear.
  ///   - picture: Receives the pixels to show, each within the tolerance of the pixel in `truth`. Pixels equal to those
  ///     of `shown` can be left unchanged by the frame, so they need none of its colours. `picture` is not changed if
  ///     255 colours do not suffice.
  /// - Returns: Whether the changed pixels now have at most 255 colours.
  /// - Throws: `cancelled` once `isCancelled` returns true.
  package mutating func match(
    _ truth: Bitmap, over shown: Bitmap?, in rect: PixelRect, _ picture: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bool {
    guard try collect(truth, shown, rect, isCancelled) else { return false }
    reset()
    errors.removeAll(keepingCapacity: true)
    errors.append(contentsOf: repeatElement(.none, count: rect.width))
    errorsAbove = errors
    var pixels = Pixels(truth: truth, shown: shown, rect: rect, square: square)
    var place = 0
    var before: Int32 = -1
    var error = PerceivedColor.none
    var path: [UInt16] = []
    let count = rect.size.area
    var sinceCheck = 0
    while place < count {
      let (code, length) = longest(at: place, error, &pixels)
      path.removeAll(keepingCapacity: true)
      var step = code
      while step >= 0 {
        path.append(symbols[Int(step)])
        step = parents[Int(step)]
      }
      for offset in 0..<length {
        let symbol = Int(path[length - 1 - offset])
        pixels.load(place + offset)
        if pixels.x == 0 { swap(&errors, &errorsAbove) }
        error =
          stays(pixels)
          ? .none : Self.wanted(pixels, error, errorsAbove[pixels.x]).minus(colors[symbol])
        errors[pixels.x] = error
        let (x, y) = (rect.x + pixels.x, rect.y + pixels.y)
        let word = symbol < words.count ? words[symbol] : pixels.kept(x, y)
        let target = y * picture.bytesPerRow + 4 * x
        var bytes = picture.mutableBytes
        bytes.storeBytes(of: word, toByteOffset: target, as: UInt32.self)
      }
      if before >= 0 { add(before, path[length - 1]) }
      before = code
      if next >= Self.codeLimit {
        // An encoder clears its table before the next phrase.
        reset()
        before = -1
      }
      place += length
      sinceCheck += length
      if sinceCheck > 1 << 16 {
        sinceCheck = 0
        try GIFFrameSearch.check(isCancelled)
      }
    }
    return true
  }

  // MARK: Symbols

  /// Chooses the symbols. Returns false if there are too many colours, or no pixel to draw.
  private mutating func collect(
    _ truth: Bitmap, _ shown: Bitmap?, _ rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bool {
    guard let (counts, hasClear) = try count(truth, shown, rect, isCancelled) else { return false }
    // One of 256 indices is reserved for unchanged pixels, if there can be any.
    let mayStay = shown != nil || hasClear
    if choose(counts, mayStay: mayStay) { return true }
    // Without that index, every pixel of the rectangle has to be drawn.
    guard mayStay, !hasClear, !counts.isEmpty,
      let (counts, _) = try count(truth, nil, rect, isCancelled)
    else { return false }
    return choose(counts, mayStay: false)
  }

  /// Counts the pixels of each colour, without transparent pixels and those that may stay as in `shown`. Returns nil if
  /// there are far too many colours, or if pixels are partly transparent, which the encoder rejects.
  private func count(
    _ truth: Bitmap, _ shown: Bitmap?, _ rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (counts: [UInt32: Int], hasClear: Bool)? {
    var counts: [UInt32: Int] = [:]
    var hasClear = false
    let base = shown ?? truth
    var last: (word: UInt32, count: Int) = (0, 0)
    for y in rect.y..<rect.maxY {
      try rect.poll(row: y, isCancelled)
      let (row, below) = (truth.row(y), base.row(y))
      for x in rect.x..<rect.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if word &>> 24 == 0 {
          hasClear = true
          continue
        }
        guard word &>> 24 == 255 else { return nil }
        if shown != nil {
          let under = below.load(UInt32.self, at: x &* 4)
          // The pixel may stay unchanged, by the same rule as in ``Pixels/load(_:)``.
          if under &>> 24 == 255, PerceivedColor.isNear(word, under, square) { continue }
        }
        if word != last.word {
          if last.count > 0 { counts[last.word, default: 0] += last.count }
          last = (word, 0)
          guard counts.count < 4096 else { return nil }
        }
        last.count &+= 1
      }
    }
    if last.count > 0 { counts[last.word, default: 0] += last.count }
    return (counts, hasClear)
  }

  /// Makes symbols of these colours, except those that are close enough to a more frequent one. Returns false if there
  /// are too many symbols, or none.
  private mutating func choose(_ counts: [UInt32: Int], mayStay: Bool) -> Bool {
    words.removeAll(keepingCapacity: true)
    colors.removeAll(keepingCapacity: true)
    for (word, _) in counts.sorted(by: { ($0.value, $0.key) > ($1.value, $1.key) }) {
      let color = PerceivedColor(word: word)
      if colors.contains(where: { $0.squareDistance(to: color) <= square }) { continue }
      guard words.count < (mayStay ? 255 : 256) else { return false }
      words.append(word)
      colors.append(color)
    }
    symbolCount = words.count + (mayStay ? 1 : 0)
    return !words.isEmpty
  }

  // MARK: Phrases

  /// Discards all phrases except those of one symbol. The code of such a phrase equals its symbol: first come the
  /// colours, then the symbol for unchanged pixels.
  private mutating func reset() {
    let count = symbolCount
    for code in 0..<max(next, count) { (children[code], siblings[code]) = (-1, -1) }
    for symbol in 0..<count {
      symbols[symbol] = UInt16(symbol)
      parents[symbol] = -1
    }
    // The next two codes are the clear code and the end code.
    let bits = max(2, Int.bitWidth - (count - 1).leadingZeroBitCount)
    next = max(count, 1 << bits) + 2
    for code in count..<next { (children[code], siblings[code]) = (-1, -1) }
  }

  /// Adds the phrase formed by appending `symbol` to the phrase that `code` stands for. Like a decoder, this function
  /// uses up a code even if the phrase exists already.
  private mutating func add(_ code: Int32, _ symbol: UInt16) {
    var child = children[Int(code)]
    while child >= 0, symbols[Int(child)] != symbol { child = siblings[Int(child)] }
    if child < 0 {
      symbols[next] = symbol
      parents[next] = code
      children[next] = -1
      siblings[next] = children[Int(code)]
      children[Int(code)] = Int32(next)
    }
    next += 1
  }

  /// Returns the code of the best phrase that starts at `place`, and the phrase's length. `error` is the error of the
  /// pixel before.
  private mutating func longest(
    at place: Int, _ error: PerceivedColor, _ pixels: inout Pixels
  ) -> (code: Int32, length: Int) {
    front.removeAll(keepingCapacity: true)
    pixels.load(place)
    for symbol in 0..<symbolCount {
      extend(
        Node(code: -1, cost: 0, error: error), to: Int32(symbol), UInt16(symbol), pixels, place)
    }
    swap(&front, &grown)
    grown.removeAll(keepingCapacity: true)
    var best: (score: Int32, node: Node, length: Int)?
    var length = 0
    while !front.isEmpty {
      length += 1
      if let node = front.min(by: { $0.cost < $1.cost }) {
        let score = Int32(clamping: length) &* Self.pixelValue &- node.cost
        if best.map({ score > $0.score }) ?? true { best = (score, node, length) }
      }
      guard place + length < pixels.count else { break }
      pixels.load(place + length)
      for node in front {
        var child = children[Int(node.code)]
        while child >= 0 {
          extend(node, to: child, symbols[Int(child)], pixels, place)
          child = siblings[Int(child)]
        }
      }
      swap(&front, &grown)
      grown.removeAll(keepingCapacity: true)
    }
    guard let best else { preconditionFailure("a pixel has its own colour") }
    return (best.node.code, best.length)
  }

  /// Extends `node` by a symbol if the symbol's colour is close enough to the loaded pixel. `start` is the place of the
  /// phrase's first pixel.
  @inline(__always)
  private mutating func extend(
    _ node: Node, to code: Int32, _ symbol: UInt16, _ pixels: Pixels, _ start: Int
  ) {
    let isKept = Int(symbol) == words.count
    if stays(pixels) {
      // The pixel may be drawn all the same, but in the colour that is shown.
      guard isKept || !pixels.isClear && words[Int(symbol)] == pixels.under else { return }
      push(Node(code: code, cost: node.cost, error: .none))
      return
    }
    if isKept { return }
    let color = colors[Int(symbol)]
    guard color.squareDistance(to: pixels.color) <= square else { return }
    let wanted = Self.wanted(pixels, node.error, errorAbove(pixels, start))
    // Each component of an error is at most four tolerances, so the cost is below 2^12.
    let cost = Int64(wanted.squareDistance(to: color)) &* Int64(Self.errorCost) / Int64(square)
    push(
      Node(
        code: code, cost: node.cost &+ Int32(truncatingIfNeeded: cost), error: wanted.minus(color)))
  }

  /// Returns whether the loaded pixel stays as it is shown. If all pixels have to be drawn, none is known to stay.
  @inline(__always)
  private func stays(_ pixels: Pixels) -> Bool {
    pixels.canStay && symbolCount > words.count
  }

  /// Returns the error of the pixel above the loaded one, or none if it is not known yet because both are in the phrase
  /// that starts at `start`.
  @inline(__always)
  private func errorAbove(_ pixels: Pixels, _ start: Int) -> PerceivedColor {
    guard pixels.place &- pixels.rect.width < start else { return .none }
    // The two rows are exchanged once the first pixel of a row is drawn.
    let isAbove = pixels.y &* pixels.rect.width < start
    return isAbove ? errorsAbove[pixels.x] : errors[pixels.x]
  }

  /// Returns the colour of the loaded pixel, changed by the errors of the pixels to the left and above.
  @inline(__always)
  private static func wanted(
    _ pixels: Pixels, _ left: PerceivedColor, _ above: PerceivedColor
  ) -> PerceivedColor {
    let right = pixels.takesLeft ? carried.right : 0
    let down = pixels.takesAbove ? carried.down : 0
    return PerceivedColor(
      luma: pixels.color.luma &+ (left.luma &* right &+ above.luma &* down) / 16,
      blue: pixels.color.blue &+ (left.blue &* right &+ above.blue &* down) / 16,
      red: pixels.color.red &+ (left.red &* right &+ above.red &* down) / 16)
  }

  /// Adds `node` to ``grown``, which keeps only the nodes with the lowest cost.
  @inline(__always)
  private mutating func push(_ node: Node) {
    guard grown.count == Self.branches else {
      grown.append(node)
      return
    }
    var worst = 0
    for place in 1..<grown.count where grown[place].cost > grown[worst].cost { worst = place }
    if node.cost < grown[worst].cost { grown[worst] = node }
  }

  /// The pixels of a frame, loaded one at a time.
  private struct Pixels {
    let truth: Bitmap
    let shown: Bitmap?
    let rect: PixelRect
    let square: Int32
    let count: Int
    /// The number of the loaded pixel in reading order, and its position in the rectangle.
    private(set) var place = 0
    private(set) var x = 0
    private(set) var y = 0
    private(set) var color = PerceivedColor.none
    private(set) var isClear = false
    private(set) var canStay = false
    /// The shown colour of a pixel that can stay.
    private(set) var under: UInt32 = 0
    /// Whether the errors of the pixels to the left and above are carried to this pixel: those of another true colour.
    private(set) var takesLeft = false
    private(set) var takesAbove = false

    init(truth: Bitmap, shown: Bitmap?, rect: PixelRect, square: Int32) {
      (self.truth, self.shown, self.rect, self.square) = (truth, shown, rect, square)
      count = rect.size.area
    }

    @inline(__always)
    mutating func load(_ place: Int) {
      self.place = place
      (y, x) = place.quotientAndRemainder(dividingBy: rect.width)
      let (column, line) = (rect.x &+ x, rect.y &+ y)
      let word = truth.row(line).load(UInt32.self, at: column &* 4)
      isClear = word &>> 24 == 0
      if isClear {
        canStay = true
        return
      }
      color = PerceivedColor(word: word)
      takesLeft =
        x > 0 && truth.row(line).load(UInt32.self, at: (column &- 1) &* 4) != word
      takesAbove = y > 0 && truth.row(line &- 1).load(UInt32.self, at: column &* 4) != word
      canStay = false
      guard let shown else { return }
      under = shown.row(line).load(UInt32.self, at: column &* 4)
      if under &>> 24 == 255 {
        canStay = PerceivedColor(word: under).squareDistance(to: color) <= square
      }
    }

    /// Returns the colour that an unchanged pixel shows. This is transparent where `truth` is transparent.
    func kept(_ x: Int, _ y: Int) -> UInt32 {
      let word = truth.row(y).load(UInt32.self, at: x * 4)
      return word >> 24 == 0 ? word : shown?.row(y).load(UInt32.self, at: x * 4) ?? word
    }
  }
}
