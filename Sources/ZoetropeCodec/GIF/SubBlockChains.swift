/// Where chains of data sub-blocks (GIF89a section 15) lead in a piece of a file.
///
/// What is known is of the bytes alone: who begins at this place and goes from length to length comes
/// to that one. Whether a frame's data begin there only the scanner can say; when it comes to the
/// start of a chain it goes on at its end and looks at nothing between. So another thread can follow
/// chains ahead of the scanner by guessing where they begin, and cannot be wrong as long as the bytes
/// stay what they are: a wrong guess is a chain that nobody comes to.
package struct SubBlockChains: Sendable {
  package init() { chains = [] }

  /// In order of their starts.
  let chains: [SubBlockChain]
  /// The first chain that ends behind the place asked for last.
  private var next = 0

  init(_ chains: [SubBlockChain]) { self.chains = chains }

  /// The chain that leads on from the length at `offset`; nil when none is known. Offsets may not fall
  /// from one call to the next.
  mutating func chain(from offset: Int) -> SubBlockChain? {
    while next < chains.count, chains[next].end <= offset { next += 1 }
    guard next < chains.count, chains[next].leads(from: offset) else { return nil }
    return chains[next]
  }
}
