/// Six rows of pixels that are encoded as sixel characters.
///
/// The pixels of each colour are split into segments at gaps. Segments of different colours that do not overlap share a
/// pass over the band, which saves blanks and most carriage returns.
struct SixelBand: Sendable {
  private let width: Int
  /// The pixels to draw in each colour slot. The six pixels of a column are one element, at index `slot * width + x`.
  private var bits: [UInt8] = []
  /// The pixels in ``bits``, and those that already have the slot's colour and may be drawn again.
  private var own: [UInt8] = []
  private var slots: [Slot] = []
  private var slotOfRegister: [Int16]
  private var segments: [Segment] = []
  private var route = SixelRoute()

  private struct Slot: Sendable {
    let register: Int
    var low: Int
    var high: Int
  }

  private struct Segment: Sendable {
    let slot: Int
    let start: Int
    let end: Int
  }

  /// The number of blank columns that ends a segment, unless different drawing orders are tried (see ``SixelRoute``).
  ///
  /// A blank is cheaper than selecting the colour again, but other colours can use the gap in the same pass: for a
  /// small change in a dithered photograph, a gap of 2 gives 2 % fewer bytes than a gap of 6. If orders are tried, the
  /// chosen order decides which gaps to bridge, so segments end at the first blank.
  private static let gap = 2

  init(width: Int) {
    self.width = width
    slotOfRegister = Array(repeating: -1, count: 256)
  }

  var isEmpty: Bool { slots.isEmpty }

  /// Removes the pixels of the previous band.
  mutating func begin() {
    for (index, slot) in slots.enumerated() {
      slotOfRegister[slot.register] = -1
      for x in slot.low..<slot.high {
        bits[index * width + x] = 0
        own[index * width + x] = 0
      }
    }
    slots.removeAll(keepingCapacity: true)
  }

  /// Marks a pixel to be drawn. `line` is its row in the band, from 0 to 5.
  @inline(__always)
  mutating func set(register: Int, x: Int, line: Int) {
    var slot = Int(slotOfRegister[register])
    if slot < 0 {
      slot = slots.count
      slotOfRegister[register] = Int16(slot)
      slots.append(Slot(register: register, low: x, high: x + 1))
      if bits.count < slots.count * width {
        bits.append(contentsOf: repeatElement(0, count: width))
        own.append(contentsOf: repeatElement(0, count: width))
      }
    }
    bits[slot * width + x] |= 1 << UInt8(line)
    own[slot * width + x] |= 1 << UInt8(line)
    if x < slots[slot].low { slots[slot].low = x }
    if x >= slots[slot].high { slots[slot].high = x + 1 }
  }

  /// Marks a pixel that already shows the colour of the register, and may be drawn again if this takes fewer bytes.
  ///
  /// The mark counts only between pixels that must be drawn.
  @inline(__always)
  mutating func allow(register: Int, x: Int, line: Int) {
    let slot = Int(slotOfRegister[register])
    if slot >= 0, slots[slot].low <= x, x < slots[slot].high {
      own[slot * width + x] |= 1 << UInt8(line)
    }
  }

  /// Appends the characters of the band, without the `-` that moves to the next band.
  ///
  /// `register` is the register that is selected, or -1 if none is. The method updates it. If `trying` is true, the
  /// method searches for an order in which drawing takes few bytes. The search takes time.
  mutating func append(to output: inout [UInt8], register: inout Int, trying: Bool) {
    collectSegments(gap: trying ? 1 : Self.gap)
    let runs = segments.map {
      SixelRoute.Run(register: slots[$0.slot].register, start: $0.start, end: $0.end)
    }
    route.find(
      through: runs, from: SixelRoute.Pen(column: 0, register: register), improving: trying)
    var x = 0
    for index in route.order {
      let segment = segments[index]
      if segment.start < x {
        output.append(36)
        x = 0
      }
      if runs[index].register != register {
        register = runs[index].register
        output.append(35)
        output.append(decimal: register)
      }
      Self.append(63, count: segment.start - x, to: &output)
      appendColumns(of: segment, to: &output)
      x = segment.end
    }
  }

  private mutating func collectSegments(gap: Int) {
    segments.removeAll(keepingCapacity: true)
    for (index, slot) in slots.enumerated() {
      let base = index * width
      var start = slot.low
      var last = slot.low
      for x in slot.low..<slot.high where bits[base + x] != 0 {
        if x - last > gap, !isOwn(base + last + 1..<base + x) {
          segments.append(Segment(slot: index, start: start, end: last + 1))
          start = x
        }
        last = x
      }
      segments.append(Segment(slot: index, start: start, end: last + 1))
    }
    segments.sort { ($0.start, $0.slot) < ($1.start, $1.slot) }
  }

  /// Returns whether each column in `columns` has a pixel that may be drawn.
  private func isOwn(_ columns: Range<Int>) -> Bool {
    !columns.contains { own[$0] == 0 }
  }

  private func appendColumns(of segment: Segment, to output: inout [UInt8]) {
    let base = segment.slot * width
    var x = segment.start
    while x < segment.end {
      // Extend the run for as long as a single character can draw every needed pixel and no pixel that must not be
      // drawn.
      var needed = bits[base + x]
      var allowed = own[base + x]
      var end = x + 1
      while end < segment.end {
        let more = needed | bits[base + end]
        let less = allowed & own[base + end]
        if more & ~less != 0 { break }
        (needed, allowed) = (more, less)
        end += 1
      }
      Self.append(63 + needed, count: end - x, to: &output)
      x = end
    }
  }

  private static func append(_ character: UInt8, count: Int, to output: inout [UInt8]) {
    if count > 3 {
      output.append(33)
      output.append(decimal: count)
      output.append(character)
    } else {
      for _ in 0..<max(count, 0) { output.append(character) }
    }
  }
}

/// The order in which the runs of a band are drawn.
///
/// A run costs a colour selection, unless its colour is already selected, and the way to its first column: blanks, or a
/// carriage return followed by blanks if the column is further left. The order is improved by local search, as for the
/// travelling salesman problem: blocks of runs are moved for as long as this saves bytes.
struct SixelRoute: Sendable {
  /// Pixels of one colour in adjacent columns.
  struct Run: Sendable {
    let register: Int
    let start: Int
    let end: Int
  }

  /// The current column, and the selected register or -1 if none is selected.
  struct Pen: Sendable {
    var column: Int
    var register: Int
  }

  /// The order in which runs are drawn. Each element is the index of a run.
  private(set) var order: [Int] = []

  /// The maximum number of runs for which orders are tried. The time grows with the square of this number.
  ///
  /// Small changes benefit the most, because they consist mainly of selections and moves. A band of a whole picture has
  /// hundreds of adjacent runs, and little to gain.
  static let triedCount = 64
  /// The maximum number of runs that are moved together.
  private static let longestBlock = 6
  private var runs: [Run] = []

  /// Finds an order for drawing `runs`, which are sorted from left to right, with a pen that starts at `pen`.
  ///
  /// Each run is added to the pass in which it costs the fewest bytes. With `improving`, runs are then moved to cheaper
  /// places.
  mutating func find(through runs: [Run], from pen: Pen, improving: Bool) {
    self.runs = runs
    fillPasses(from: pen)
    if improving, runs.count > 1, runs.count <= Self.triedCount { improve(from: pen) }
  }

  /// Returns the number of bytes needed between drawing a run that leaves the pen at `pen` and drawing `run`.
  static func cost(from pen: Pen, to run: Run) -> Int {
    let moving =
      run.start >= pen.column ? blanks(run.start - pen.column) : 1 + blanks(run.start)
    return moving + (run.register == pen.register ? 0 : 1 + digits(run.register))
  }

  private static func digits(_ number: Int) -> Int { number < 10 ? 1 : number < 100 ? 2 : 3 }

  /// Returns the number of bytes that `count` equal characters take.
  private static func blanks(_ count: Int) -> Int { count > 3 ? 2 + digits(count) : count }

  private func pen(after index: Int) -> Pen {
    Pen(column: runs[index].end, register: runs[index].register)
  }

  private mutating func fillPasses(from pen: Pen) {
    var passes: [[Int]] = []
    for index in runs.indices {
      let run = runs[index]
      // A separate pass also costs a carriage return.
      var best = -1
      var least = Self.cost(from: Pen(column: .max, register: -1), to: run)
      for (candidate, pass) in passes.enumerated() {
        let end = self.pen(after: pass[pass.count - 1])
        guard end.column <= run.start else { continue }
        let cost = Self.cost(from: end, to: run)
        if cost < least || (cost == least && best < 0) { (best, least) = (candidate, cost) }
      }
      if best < 0 { passes.append([index]) } else { passes[best].append(index) }
    }
    order.removeAll(keepingCapacity: true)
    for pass in passes { order += pass }
  }

  /// Moves blocks of runs for as long as this saves bytes.
  private mutating func improve(from pen: Pen) {
    var improved = true
    while improved {
      improved = false
      for length in 1...min(Self.longestBlock, order.count - 1) {
        for first in 0...order.count - length where move(first, length, from: pen) {
          improved = true
        }
      }
    }
  }

  /// Takes the block of `length` runs that starts at index `first`, and moves it to the place that saves the most
  /// bytes. Returns false if no place saves any.
  private mutating func move(_ first: Int, _ length: Int, from pen: Pen) -> Bool {
    let last = first + length - 1
    let before = first == 0 ? pen : self.pen(after: order[first - 1])
    let head = runs[order[first]]
    let tail = self.pen(after: order[last])
    var saved = Self.cost(from: before, to: head)
    if last + 1 < order.count {
      let next = runs[order[last + 1]]
      saved += Self.cost(from: tail, to: next) - Self.cost(from: before, to: next)
    }
    if saved <= 0 { return false }
    var target = -1
    var most = 0
    // The block can go in front of the run at `place`, or after the last run.
    for place in 0...order.count where place < first || place > last + 1 {
      let left = place == 0 ? pen : self.pen(after: order[place - 1])
      var added = Self.cost(from: left, to: head)
      if place < order.count {
        let right = runs[order[place]]
        added += Self.cost(from: tail, to: right) - Self.cost(from: left, to: right)
      }
      if saved - added > most { (most, target) = (saved - added, place) }
    }
    if target < 0 { return false }
    let block = Array(order[first...last])
    order.removeSubrange(first...last)
    order.insert(contentsOf: block, at: target < first ? target : target - length)
    return true
  }
}
