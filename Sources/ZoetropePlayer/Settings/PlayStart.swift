internal import Zoetrope
internal import ZoetropeProcess

/// The point at which playback starts.
package enum PlayStart: Sendable, Hashable {
  /// A frame, counted from 0. Negative numbers count from the end.
  case frame(Int)
  case time(Duration)

  /// Returns the index of the start frame in `image`. See ``PlayerSettings/checkStart(in:of:)``.
  func index(in image: AnimatedImage, policy: DelayPolicy) -> Int {
    switch self {
    case .frame(let number): number < 0 ? image.frames.count + number : number
    case .time(let time): image.frameIndex(at: time, policy: policy)
    }
  }

  /// Returns the index of the start frame in `input`. For a stream, ``isKnownAtOnce`` must be true.
  func index(in input: OpenedInput, policy: DelayPolicy) -> Int {
    switch (input, self) {
    case (.whole(let image), _): index(in: image, policy: policy)
    case (.stream, .frame(let number)): max(number, 0)
    case (.stream, .time): 0
    }
  }

  /// Whether the start is a frame counted from the beginning, so that its index is known before other frames are.
  package var isKnownAtOnce: Bool {
    if case .frame(let number) = self { number >= 0 } else { false }
  }
}
