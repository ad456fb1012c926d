/// Neighbours in a ``UseList``; -1 for none.
package struct Links: Sendable {
  package var older = -1
  package var newer = -1

  package init() {}
}

/// An element of an array that may be in one ``UseList``.
package protocol Linked {
  var links: Links { get set }
}

/// A doubly linked list through the elements of an array, least recently used first.
///
/// Links are indices, so a hit relinks without allocating or reference counting. Inlinable, so that it is
/// specialised for the caller's elements: a hit in the memory cache takes less than a microsecond.
package struct UseList: Sendable {
  package var oldest = -1
  package var newest = -1

  package init() {}

  @inlinable package mutating func append(_ index: Int, in array: inout [some Linked]) {
    array[index].links.older = newest
    array[index].links.newer = -1
    if newest >= 0 { array[newest].links.newer = index } else { oldest = index }
    newest = index
  }

  @inlinable package mutating func remove(_ index: Int, in array: inout [some Linked]) {
    let links = array[index].links
    if links.older >= 0 {
      array[links.older].links.newer = links.newer
    } else {
      oldest = links.newer
    }
    if links.newer >= 0 {
      array[links.newer].links.older = links.older
    } else {
      newest = links.older
    }
  }
}
