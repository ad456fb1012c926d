/// Changes pixels of a frame to similar colours so that LZW finds longer phrases.
///
/// The matcher searches as an LZW compressor does. Phrases form a trie, and a phrase continues as long as a child node
/// has a colour close enough to the next pixel. The search chooses the phrase whose length outweighs its error most.
/// The output consists of pixels rather than codes: a lossless encoder then finds the same phrases or longer ones, and
/// can store the pixels in the shortest way.
///
/// The symbols of a frame are the colours of its changed pixels, and one symbol for unchanged pixels. Every pixel stays
/// within the tolerance of its true colour. Most of a pixel's error is carried to the next pixel of the row, so that
/// errors even out.
///
/// A matcher has one owner at a time. It keeps its working memory, about 57 KB plus 16 bytes per colour, for the next
/// frame.
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
  private var front: [Node] = []
  private var grown: [Node] = []

  private static let codeLimit = 4096
  /// The maximum number of phrases of one length that are followed. These are the phrases with the smallest error.
  private static let branches = 12
  /// The value of a pixel in a phrase, and the cost of the maximum error. With a lower `errorCost`, the search prefers
  /// long phrases of inaccurate colours. With a higher one, it uses only close colours.
  private static let pixelValue: Int32 = 64
  private static let errorCost: Int32 = 48

  /// A phrase that is being matched.
  private struct Node {
    var code: Int32
    var cost: Int32
    /// The error of the phrase's last pixel, which the next pixel compensates.
    var carry: PerceivedColor
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
    var pixels = Pixels(truth: truth, shown: shown, rect: rect, square: square)
    var place = 0
    var before: Int32 = -1
    var carry = PerceivedColor.none
    var path: [UInt16] = []
    let count = rect.size.area
    var sinceCheck = 0
    while place < count {
      let (code, length, rest) = longest(at: place, carry, &pixels)
      carry = rest
      path.removeAll(keepingCapacity: true)
      var step = code
      while step >= 0 {
        path.append(symbols[Int(step)])
        step = parents[Int(step)]
      }
      for offset in 0..<length {
        let symbol = Int(path[length - 1 - offset])
        let (x, y) = (
          rect.x + (place + offset) % rect.width, rect.y + (place + offset) / rect.width
        )
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
        if isCancelled() {
          throw AnimatedImageError(
            .cancelled, "stopped while compressing a frame", format: .gif)
        }
      }
    }
    return true
  }

  // MARK: Symbols

  /// Collects the colours of the pixels that change. Returns false if there are too many such colours, or none.
  private mutating func collect(
    _ truth: Bitmap, _ shown: Bitmap?, _ rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bool {
    words.removeAll(keepingCapacity: true)
    colors.removeAll(keepingCapacity: true)
    var counts: [UInt32: Int] = [:]
    let base = shown ?? truth
    var last: (word: UInt32, count: Int) = (0, 0)
    for y in rect.y..<rect.maxY {
      try rect.poll(row: y, isCancelled)
      let (row, below) = (truth.row(y), base.row(y))
      for x in rect.x..<rect.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if word &>> 24 == 0 { continue }
        // The encoder rejects partly transparent pixels.
        guard word &>> 24 == 255 else { return false }
        if shown != nil {
          let under = below.load(UInt32.self, at: x &* 4)
          // The pixel may stay unchanged, by the same rule as in ``Pixels/load(_:)``.
          if under &>> 24 == 255, PerceivedColor.isNear(word, under, square) { continue }
        }
        if word != last.word {
          if last.count > 0 { counts[last.word, default: 0] += last.count }
          last = (word, 0)
          guard counts.count < 4096 else { return false }
        }
        last.count &+= 1
      }
    }
    if last.count > 0 { counts[last.word, default: 0] += last.count }
    let found = counts.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
    for (word, _) in found {
      let color = PerceivedColor(word: word)
      // One index is reserved for unchanged pixels. If there are too many colours, a rare colour is left out if a more
      // frequent one is close enough.
      if found.count > 255, colors.contains(where: { $0.squareDistance(to: color) <= square }) {
        continue
      }
      guard words.count < 255 else { return false }
      words.append(word)
      colors.append(color)
    }
    return !words.isEmpty
  }

  // MARK: Phrases

  /// Discards all phrases except those of one symbol. The code of such a phrase equals its symbol: first come the
  /// colours, then the symbol for unchanged pixels.
  private mutating func reset() {
    let count = words.count + 1
    for code in 0..<max(next, count) { (children[code], siblings[code]) = (-1, -1) }
    for symbol in 0..<count {
      symbols[symbol] = UInt16(symbol)
      parents[symbol] = -1
    }
    // The next two codes are the clear code and the end code.
    let bits = max(2, Int.bitWidth - words.count.leadingZeroBitCount)
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

  /// Returns the code of the best phrase that starts at `place`, the phrase's length, and the error of its last pixel.
  private mutating func longest(
    at place: Int, _ carry: PerceivedColor, _ pixels: inout Pixels
  ) -> (code: Int32, length: Int, carry: PerceivedColor) {
    front.removeAll(keepingCapacity: true)
    pixels.load(place)
    for symbol in 0...words.count {
      extend(Node(code: -1, cost: 0, carry: carry), to: Int32(symbol), UInt16(symbol), pixels)
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
          extend(node, to: child, symbols[Int(child)], pixels)
          child = siblings[Int(child)]
        }
      }
      swap(&front, &grown)
      grown.removeAll(keepingCapacity: true)
    }
    guard let best else { preconditionFailure("a pixel has its own colour") }
    return (best.node.code, best.length, best.node.carry)
  }

  /// Extends `node` by a symbol if the symbol's colour is close enough to the loaded pixel.
  @inline(__always)
  private mutating func extend(_ node: Node, to code: Int32, _ symbol: UInt16, _ pixels: Pixels) {
    let isKept = Int(symbol) == words.count
    guard isKept ? pixels.canStay : !pixels.isClear else { return }
    if pixels.isClear {
      push(Node(code: code, cost: node.cost, carry: .none))
      return
    }
    let color = isKept ? pixels.below : colors[Int(symbol)]
    guard color.squareDistance(to: pixels.color) <= square else { return }
    var wanted = pixels.color
    if !pixels.beginsRow {
      wanted.luma &+= node.carry.luma
      wanted.blue &+= node.carry.blue
      wanted.red &+= node.carry.red
    }
    // Each component of the carry is below three tolerances, so the error is below 2^31 after the division.
    let error = Int64(wanted.squareDistance(to: color)) &* Int64(Self.errorCost) / Int64(square)
    push(
      Node(
        code: code, cost: node.cost &+ Int32(truncatingIfNeeded: error),
        carry: PerceivedColor(
          luma: (wanted.luma &- color.luma) &* 3 / 4, blue: (wanted.blue &- color.blue) &* 3 / 4,
          red: (wanted.red &- color.red) &* 3 / 4)))
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
    private(set) var color = PerceivedColor.none
    private(set) var below = PerceivedColor.none
    private(set) var isClear = false
    private(set) var canStay = false
    private(set) var beginsRow = true

    init(truth: Bitmap, shown: Bitmap?, rect: PixelRect, square: Int32) {
      (self.truth, self.shown, self.rect, self.square) = (truth, shown, rect, square)
      count = rect.size.area
    }

    @inline(__always)
    mutating func load(_ place: Int) {
      let (x, y) = (rect.x &+ place % rect.width, rect.y &+ place / rect.width)
      beginsRow = x == rect.x
      let word = truth.row(y).load(UInt32.self, at: x &* 4)
      isClear = word &>> 24 == 0
      if isClear {
        canStay = true
        return
      }
      color = PerceivedColor(word: word)
      canStay = false
      guard let shown else { return }
      let under = shown.row(y).load(UInt32.self, at: x &* 4)
      if under &>> 24 == 255 {
        below = PerceivedColor(word: under)
        canStay = below.squareDistance(to: color) <= square
      }
    }

    /// Returns the colour that an unchanged pixel shows. This is transparent where `truth` is transparent.
    func kept(_ x: Int, _ y: Int) -> UInt32 {
      let word = truth.row(y).load(UInt32.self, at: x * 4)
      return word >> 24 == 0 ? word : shown?.row(y).load(UInt32.self, at: x * 4) ?? word
    }
  }
}
