/// The indices of an element's neighbours in a ``UseList``, or -1 where there is no neighbour.
struct Links: Sendable {
  var older = -1
  var newer = -1
}

/// An element of an array that can be in a ``UseList``, but only in one at a time.
protocol Linked {
  var links: Links { get set }
}

/// A doubly linked list through the elements of an array, least recently used first.
///
/// Links are indices, so moving an element on a hit involves no allocation or reference counting.
struct UseList: Sendable {
  private(set) var oldest = -1
  private(set) var newest = -1

  mutating func append(_ index: Int, in array: inout [some Linked]) {
    array[index].links = Links(older: newest, newer: -1)
    if newest >= 0 { array[newest].links.newer = index } else { oldest = index }
    newest = index
  }

  mutating func remove(_ index: Int, in array: inout [some Linked]) {
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
