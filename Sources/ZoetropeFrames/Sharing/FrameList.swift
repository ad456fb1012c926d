/// The list of the frames of an image: all of its frames, or those that have arrived so far.
struct FrameList: Sendable {
  private let fixed: [FrameControl]
  private let fixedPlayCount: PlayCount
  /// The image whose frames are still arriving, or nil if all frames are known.
  private let growing: (any ImageOrigin)?
  let arrivals: (any FrameArrivals)?
  let isFetched: Bool

  init(_ frames: [FrameControl], _ playCount: PlayCount) {
    fixed = frames
    fixedPlayCount = playCount
    growing = nil
    arrivals = nil
    isFetched = false
  }

  init(_ image: some ImageOrigin) {
    arrivals = image.arrivals
    growing = arrivals == nil ? nil : image
    fixed = arrivals == nil ? image.frames : []
    fixedPlayCount = image.playCount
    isFetched = image.isFetched
  }

  var all: [FrameControl] { growing?.frames ?? fixed }

  var count: Int { growing?.frameCount ?? fixed.count }

  var playCount: PlayCount { growing?.playCount ?? fixedPlayCount }

  subscript(index: Int) -> FrameControl { growing?.control(index) ?? fixed[index] }
}
