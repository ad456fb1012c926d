internal import Zoetrope
internal import ZoetropeProcess

/// Where playing starts.
package enum PlayStart: Sendable, Hashable {
  /// A frame, counted from 0; negative from the end.
  case frame(Int)
  case time(Duration)

  /// The frame of `image` that it refers to.
  func index(in image: AnimatedImage, policy: DelayPolicy) -> Int {
    switch self {
    case .frame(let number): number < 0 ? image.frames.count + number : number
    case .time(let time): image.frameIndex(at: time, policy: policy)
    }
  }

  /// The frame that it refers to. For a stream, requires ``isKnownAtOnce``.
  func index(in input: OpenedInput, policy: DelayPolicy) -> Int {
    switch (input, self) {
    case (.whole(let image), _): index(in: image, policy: policy)
    case (.stream, .frame(let number)): max(number, 0)
    case (.stream, .time): 0
    }
  }

  /// Whether it names a frame by a number from the start, so that no other frame need be known.
  package var isKnownAtOnce: Bool {
    if case .frame(let number) = self { number >= 0 } else { false }
  }
}
