! 2DECOMP&FFT behind C functions. It has one processor grid at a time, from start to stop; engines are transforms of their
! own shapes on it. Fortran's x, y and z are our last, middle and first axis.
module fourscore_2decomp

   use iso_c_binding
   use decomp_2d
   use decomp_2d_constants
   use decomp_2d_mpi
   use decomp_2d_fft

   implicit none
   private

   type transform
      type(decomp_2d_fft_engine) :: engine
      integer :: sign = DECOMP_2D_FFT_FORWARD
      logical :: from_x = .true.  ! x-pencils in and z-pencils out, else the reverse
      logical :: returns = .false.  ! to x-pencils after it
   end type transform

contains

   ! Bytes of a real number for which the library was compiled.
   function real_bytes() bind(C, name="fourscore_2decomp_real_bytes") result(bytes)
      integer(c_int) :: bytes
      bytes = int(storage_size(0.0_mytype)/8, c_int)
   end function real_bytes

   subroutine start(comm, n, rows, columns) bind(C, name="fourscore_2decomp_start")
      integer(c_int), value :: comm, rows, columns
      integer(c_int), intent(in) :: n(3)
      integer :: p_row, p_col
      p_row = rows
      p_col = columns
      decomp_log = D2D_LOG_QUIET  ! else it writes a file into the working directory
      call decomp_2d_init(n(1), n(2), n(3), p_row, p_col, comm=comm, complex_pool=.true.)
   end subroutine start

   subroutine stop_it() bind(C, name="fourscore_2decomp_stop")
      call decomp_2d_finalize
   end subroutine stop_it

   ! forward: sign of the exponent; from_x: x-pencils in; returns: z-pencils are led back to x-pencils.
   function make(n, forward, from_x, returns) bind(C, name="fourscore_2decomp_make") result(handle)
      integer(c_int), intent(in) :: n(3)
      integer(c_int), value :: forward, from_x, returns
      type(c_ptr) :: handle
      type(transform), pointer :: made
      logical :: x_is_physical
      allocate (made)
      made%sign = merge(DECOMP_2D_FFT_FORWARD, DECOMP_2D_FFT_BACKWARD, forward /= 0)
      made%from_x = from_x /= 0
      made%returns = returns /= 0
      ! The library goes from x to z forward where data is physical in x, and backward where it is physical in z.
      x_is_physical = (forward /= 0) .eqv. (from_x /= 0)
      call made%engine%init(merge(PHYSICAL_IN_X, PHYSICAL_IN_Z, x_is_physical), n(1), n(2), n(3), opt_inplace=.true.)
      handle = c_loc(made)
   end function make

   ! First and last index, from 0 and inclusive, of this rank's pencil along axis 1 (x), 2 (y) or 3 (z).
   subroutine box(handle, axis, low, high) bind(C, name="fourscore_2decomp_box")
      type(c_ptr), value :: handle
      integer(c_int), value :: axis
      integer(c_int), intent(out) :: low(3), high(3)
      type(transform), pointer :: this
      call c_f_pointer(handle, this)
      select case (axis)
      case (1)
         low = this%engine%ph%xst - 1
         high = this%engine%ph%xen - 1
      case (2)
         low = this%engine%ph%yst - 1
         high = this%engine%ph%yen - 1
      case default
         low = this%engine%ph%zst - 1
         high = this%engine%ph%zen - 1
      end select
   end subroutine box

   ! in and out: different memory, each as large as the largest of the three pencils; in is overwritten.
   subroutine execute(handle, in, out) bind(C, name="fourscore_2decomp_execute")
      type(c_ptr), value :: handle, in, out
      type(transform), pointer :: this
      complex(mytype), pointer, contiguous :: source(:, :, :), target(:, :, :), middle(:, :, :)
      call c_f_pointer(handle, this)
      associate (ph => this%engine%ph)
         if (this%from_x) then
            call c_f_pointer(in, source, ph%xsz)
            call c_f_pointer(out, target, ph%zsz)
         else
            call c_f_pointer(in, source, ph%zsz)
            call c_f_pointer(out, target, ph%xsz)
         end if
         call this%engine%fft(source, target, this%sign)
         if (this%returns) then
            call c_f_pointer(in, middle, ph%ysz)
            call transpose_z_to_y(target, middle, ph)
            call c_f_pointer(out, target, ph%xsz)
            call transpose_y_to_x(middle, target, ph)
         end if
      end associate
   end subroutine execute

   subroutine destroy(handle) bind(C, name="fourscore_2decomp_destroy")
      type(c_ptr), value :: handle
      type(transform), pointer :: this
      call c_f_pointer(handle, this)
      call this%engine%fin()
      deallocate (this)
   end subroutine destroy

end module fourscore_2decomp
